"""Launch bounds against the registers that ptxas used, and what follows from them."""

from __future__ import annotations

import pytest

from ptx_lsp import ptxas
from ptx_lsp.analyses.occupancy.calculator import occupancy
from ptx_lsp.analyses.occupancy.launch_bounds import (
    Directives,
    Failure,
    LaunchBounds,
    Threshold,
    directives_of,
    largest_block,
    launch_bounds,
    launch_bounds_of,
    thresholds,
)
from ptx_lsp.isa.device_limits import LIMITS, static_shared_limit
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.module import Module
from tests.oracle.figures import launch_bounds as oracle

LIVE = ["", ".maxntid 65 .minnctapersm 31", ".maxntid 1024 .maxnreg 128", ".maxnreg 256"]
"""What ptxas is asked about anew, beside what is drawn for the target."""


def test_the_limit_is_what_ptxas_keeps_to() -> None:
    rows = oracle.recorded()
    assert {row.target for row in rows} == {f"sm_{number}" for number in LIMITS}
    assert list(oracle.disagreements(rows)) == []
    exact = [row for row in rows if row.spilled_bytes and "minnctapersm" in row.directives]
    assert len(exact) > 500


@pytest.mark.parametrize(
    ("registers", "ignored", "differ"),
    [
        (80, "maxnreg above 255", 0),
        (81, "maxnreg above 255", 1),
        (79, "maxnreg above 255", 1),
        (80, "-", 1),
    ],
)
def test_a_difference_is_seen(registers: int, ignored: str, differ: int) -> None:
    directives = ".maxntid 256 .minnctapersm 3 .maxnreg 300"
    row = oracle.Compiled("sm_90", registers, 99, ignored, directives)
    assert len(list(oracle.disagreements([row]))) == differ


def test_ptxas_still_does_so() -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas here; what it did is recorded and tested all the same")
    rows = oracle.compile_for("sm_90", tool, [*LIVE, *oracle.directives_for("sm_90")[-3:]])
    assert list(oracle.disagreements(rows)) == []
    assert [row.ignored for row in rows[:4]] == [
        "-",
        "minnctapersm above warps per SM",
        "-",
        "maxnreg above 255",
    ]


@pytest.mark.parametrize(
    ("target", "directives", "threads", "source", "asked", "limit", "limit_source", "ignored"),
    [
        ("sm_90", Directives(), 0, "none", 0, 255, "target", ()),
        ("sm_90", Directives(maxntid=(256,)), 256, "maxntid", 0, 255, "block size", ()),
        ("sm_90", Directives(maxntid=(32, 16, 2)), 1024, "maxntid", 0, 64, "block size", ()),
        ("sm_90", Directives((512,), minnctapersm=2), 512, "reqntid", 2, 64, "minnctapersm", ()),
        ("sm_90a", Directives((512,), (), 2, 48), 512, "reqntid", 2, 48, "maxnreg", ()),
        ("sm_90", Directives((512,), (), 2, 70), 512, "reqntid", 2, 64, "minnctapersm", ()),
        ("sm_90", Directives((1024,), maxnreg=128), 1024, "reqntid", 0, 128, "maxnreg", ()),
        ("sm_90", Directives(maxnreg=3), 0, "none", 0, 24, "maxnreg", ()),
        ("sm_61", Directives(maxnreg=3), 0, "none", 0, 16, "maxnreg", ()),
        ("sm_60", Directives((160,), (), 2), 160, "reqntid", 2, 168, "minnctapersm", ()),
        ("sm_53", Directives((320,), (), 1), 320, "reqntid", 1, 80, "minnctapersm", ()),
        (
            "sm_86",
            Directives(maxntid=(299,), minnctapersm=5),
            299, "maxntid", 0, 168, "block size", ("minnctapersm above warps per SM",),
        ),
        (
            "sm_86",
            Directives(maxntid=(32,), minnctapersm=17),
            32, "maxntid", 0, 255, "block size", ("minnctapersm above blocks per SM",),
        ),
        (
            "sm_90",
            Directives(maxntid=(64, 33), minnctapersm=2),
            2112, "maxntid", 0, 255, "target", ("block size above threads per SM",),
        ),
        (
            "sm_90",
            Directives(minnctapersm=2, maxnreg=256),
            0, "none", 0, 255, "target", ("minnctapersm without block size", "maxnreg above 255"),
        ),
    ],
)  # fmt: skip
def test_what_directives_mean(
    target: str,
    directives: Directives,
    threads: int,
    source: str,
    asked: int,
    limit: int,
    limit_source: str,
    ignored: tuple[str, ...],
) -> None:
    bounds = launch_bounds_of(target, directives)
    assert (bounds.threads_per_block, bounds.threads_source) == (threads, source)
    assert bounds.blocks_asked == asked
    assert (bounds.register_limit, bounds.limit_source) == (limit, limit_source)
    assert bounds.ignored == ignored


OPTION = [
    ("", 41, 41), ("", 8, 24), ("", 255, 255), ("", 256, 255), (".minnctapersm 2", 41, 41),
    (".maxntid 65536,65536", 41, 41), (".maxntid 4096", 41, 41), (".maxntid 4096 .minnctapersm 1", 41, 41),
    (".reqnctapercluster 2", 41, 41), (".maxclusterrank 2", 41, 41), (".maxntid 32", 41, 255),
    (".reqntid 32", 41, 255), (".maxntid 1024 .minnctapersm 1", 41, 64),
    (".maxntid 256 .minnctapersm 100", 41, 255),
    (".maxntid 256 .minnctapersm 2", 41, 128), (".maxnreg 64", 41, 64), (".maxnreg 64", 96, 64),
    (".maxnreg 8", 41, 24), (".maxnreg 255", 41, 255), (".maxnreg 300", 41, 255),
    (".maxnreg 300 .maxnreg 64", 41, 64), (".maxnreg 300 .maxntid 1024", 41, 255),
    (".maxnreg 300 .maxntid 1024 .minnctapersm 1", 41, 64), (".maxnreg 128 .maxntid 1024", 41, 128),
]
"""Directives, `-maxrregcount`, and how many registers ptxas 13.5 lets a kernel have for sm_90."""


def bounds_with(directives: str, maxrregcount: int) -> LaunchBounds:
    text = f".version 9.0\n.target sm_90\n.entry k() {directives} {{ ret; }}\n"
    return launch_bounds_of("sm_90", directives_of(Module.parse(text).functions[0]), maxrregcount)


@pytest.mark.parametrize(("directives", "maxrregcount", "limit"), OPTION)
def test_an_option_of_ptxas_that_directives_override(directives: str, maxrregcount: int, limit: int) -> None:
    bounds = bounds_with(directives, maxrregcount)
    assert bounds.register_limit == limit
    assert (bounds.limit_source == "maxrregcount") == (limit == max(24, maxrregcount) < 255)


def test_ptxas_heeds_the_option_so() -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas here; what it did is recorded and tested all the same")
    source = oracle.source("sm_90", [row[0] for row in OPTION], tool).encode()
    report = ptxas.judge(source, ptxas=tool, arch="sm_90", maxrregcount=41)
    assert report.accepted
    assert not [one for one in report.messages if "Overriding" in one.text]
    for number, (directives, maxrregcount, limit) in enumerate(OPTION):
        registers = report.kernels[f"k{number}"].registers
        assert registers is not None
        assert registers <= limit or maxrregcount != 41, directives
        assert (registers > 41) == (bounds_with(directives, 41).register_limit > 41), directives


def test_a_limit_by_maxnreg_can_be_too_high_for_the_block() -> None:
    assert launch_bounds_of("sm_90", Directives((1024,), maxnreg=65)).exceeds_block
    assert not launch_bounds_of("sm_90", Directives((1024,), maxnreg=64)).exceeds_block
    assert not launch_bounds_of("sm_90", Directives(maxnreg=128)).exceeds_block


@pytest.mark.parametrize(
    ("directives", "registers", "outlook"),
    [
        (Directives((256,), minnctapersm=4), 65, "reduce"),
        (Directives((256,), minnctapersm=4), 64, "may raise"),
        (Directives((1024,)), 65, "reduce"),
        (Directives((1024,)), 40, "thresholds"),
        (Directives(), 200, "free"),
        (Directives(maxnreg=32), 33, "reduce"),
        (Directives(maxnreg=32), 32, "free"),
    ],
)
def test_what_the_compiler_is_likely_to_do(
    directives: Directives, registers: int, outlook: str
) -> None:
    assert launch_bounds_of("sm_90", directives).outlook(registers) == outlook


def test_thresholds_are_where_a_block_is_lost() -> None:
    bounds = launch_bounds_of("sm_90", Directives((256,)))
    assert bounds.thresholds == (
        Threshold(1, 255), Threshold(2, 128), Threshold(3, 80),
        Threshold(4, 64), Threshold(5, 48), Threshold(6, 40), Threshold(8, 32),
    )  # fmt: skip
    for number in LIMITS:
        for threads in (32, 100, 256, 768):
            found = thresholds(LIMITS[number], threads)
            for blocks, registers in found:
                at = occupancy(f"sm_{number}", threads, registers)
                assert at.blocks_per_sm == blocks
                if registers < 255:
                    above = occupancy(f"sm_{number}", threads, registers + 1)
                    assert above.blocks_per_sm < blocks
    assert thresholds(LIMITS[90], 0) == thresholds(LIMITS[90], 1025) == ()


@pytest.mark.parametrize(
    ("directives", "registers", "static", "dynamic", "failures"),
    [
        (Directives((256,)), 255, 0, 0, ()),
        (Directives((1024,)), 65, 0, 0, (Failure("registers", 65, 64, True),)),
        (Directives(maxntid=(1024,)), 65, 0, 0, (Failure("registers", 65, 64, False),)),
        (Directives(), 65, 0, 0, (Failure("registers", 65, 64, False),)),
        (Directives(), 64, 0, 0, ()),
        (Directives((1056,)), 32, 0, 0,
            (Failure("dimension", 1056, 1024, True), Failure("threads", 1056, 1024, True))),
        (Directives(maxntid=(1056,)), 32, 0, 0, (Failure("threads", 1056, 1024, False),)),
        (Directives((1, 1, 65)), 32, 0, 0, (Failure("dimension", 65, 64, True),)),
        (Directives(), 32, 49_152, 0, ()),
        (Directives(), 32, 49_153, 0, (Failure("shared", 49_153, 49_152, True),)),
        (Directives(), 32, 40_000, 9_153, (Failure("opt-in", 49_153, 49_152, False),)),
        (Directives(), 32, 0, 232_449, (Failure("shared", 232_449, 232_448, True),)),
        (Directives(reqnctapercluster=(2, 4)), 32, 0, 0, ()),
        (Directives(reqnctapercluster=(4, 4)), 32, 0, 0, (Failure("cluster", 16, 8, False),)),
        (Directives(reqnctapercluster=(17,)), 32, 0, 0, (Failure("cluster", 17, 16, True),)),
        (Directives(maxclusterrank=32), 32, 0, 0, (Failure("cluster", 32, 16, False),)),
    ],
)  # fmt: skip
def test_launches_that_fail(
    directives: Directives,
    registers: int,
    static: int,
    dynamic: int,
    failures: tuple[Failure, ...],
) -> None:
    bounds = launch_bounds_of("sm_90", directives)
    assert bounds.failures(registers, static, dynamic) == failures


@pytest.mark.parametrize(
    ("target", "static", "dynamic", "failures"),
    [
        ("sm_90a", 49_153, 0, ()),
        ("sm_90a", 232_448, 0, ()),
        ("sm_90a", 232_449, 0, (Failure("shared", 232_449, 232_448, True),)),
        ("sm_90a", 49_153, 16, (Failure("opt-in", 49_169, 49_152, False),)),
        ("sm_121a", 101_377, 0, (Failure("shared", 101_377, 101_376, True),)),
        ("sm_100f", 49_153, 0, (Failure("shared", 49_153, 49_152, True),)),
    ],
)
def test_static_shared_memory_of_targets(
    target: str, static: int, dynamic: int, failures: tuple[Failure, ...]
) -> None:
    assert launch_bounds_of(target, Directives()).failures(32, static, dynamic) == failures


def test_ptxas_has_these_limits_of_static_shared_memory() -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas here; the limits of some targets are tested all the same")
    known = [parse_target(name) for name in ptxas.architectures(tool)]
    differ: list[str] = []
    for target in (one for one in known if one is not None):
        most = static_shared_limit(target)
        for size, accepted in ((most, True), (most + 1, False)):
            text = f".version {target.since}\n.target {target}\n.address_size 64\n"
            text += f".entry k() {{ .shared .b8 x[{size}]; ret; }}\n"
            if ptxas.judge(text.encode(), ptxas=tool).accepted != accepted:
                differ.append(f"{target}: {size}")
    assert differ == []


def test_there_are_no_clusters_before_sm_90() -> None:
    bounds = launch_bounds_of("sm_80", Directives(maxclusterrank=2))
    assert bounds.failures(32) == (Failure("cluster", 2, 1, False),)


def test_a_launch_that_fails_has_no_blocks_resident() -> None:
    for target in ("sm_53", "sm_60", "sm_75", "sm_90", "sm_120"):
        for threads in (32, 160, 512, 1000, 1024):
            bounds = launch_bounds_of(target, Directives((threads,)))
            for registers in range(1, 256, 3):
                fails = bounds.failures(registers) != ()
                assert fails == (occupancy(target, threads, registers).blocks_per_sm == 0)


def test_the_largest_block() -> None:
    assert [largest_block(LIMITS[90], registers) for registers in (32, 64, 65, 128, 168, 255)] == [
        1024, 1024, 896, 512, 384, 256,
    ]  # fmt: skip


def test_directives_are_read_from_a_kernel() -> None:
    module = Module.parse("""
.version 8.5
.target sm_90
.address_size 64
.entry k() .maxntid 0x10,16U .maxntid 010, 8, 2 .minnctapersm 3 .maxnreg 0b100000 .maxclusterrank 4
{ ret; }
.entry plain() { ret; }
.entry cluster() .reqntid 64 .reqnctapercluster 2, 2 { ret; }
.entry broken() .maxntid x .maxnreg 40 { ret; }
""")
    k, plain, cluster, broken = (directives_of(function) for function in module.functions)
    assert k == Directives((), (8, 8, 2), 3, 32, (), 4)
    assert plain == Directives()
    assert cluster == Directives((64,), reqnctapercluster=(2, 2))
    assert broken == Directives(maxnreg=40)
    bounds = launch_bounds(module.functions[0])
    assert bounds is not None
    assert (bounds.threads_per_block, bounds.blocks_asked, bounds.register_limit) == (128, 3, 32)


@pytest.mark.parametrize(
    "header", [".target sm_35", ".target sm_82", ".target texmode_unified", ""]
)
def test_no_bounds_where_the_target_has_no_known_limits(header: str) -> None:
    module = Module.parse(f".version 8.5\n{header}\n.entry k() .maxntid 64 {{ ret; }}\n")
    assert launch_bounds(module.functions[0]) is None
    assert directives_of(module.functions[0]) == Directives(maxntid=(64,))
