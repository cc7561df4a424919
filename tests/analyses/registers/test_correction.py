"""The correction of the simulated registers: its file, its cost, and what it must not do to an estimate."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest

from ptx_lsp.analyses.registers import correction
from ptx_lsp.analyses.registers.boosted_trees import LEAF, UNITS, Tree, packed, value
from ptx_lsp.analyses.registers.correction import (
    FILE,
    MODELS,
    Factors,
    corrected,
    factors,
    predicted,
)
from ptx_lsp.analyses.registers.estimated_registers import (
    RegisterEstimate,
    estimated_registers,
    with_factors,
)
from ptx_lsp.analyses.registers.features import FEATURES, register_features, target_class
from ptx_lsp.analyses.registers.instruction_groups import GROUPS, groups
from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module

KERNEL = """
.version 8.7
.target {target}
.address_size 64
{function} k(.param .u64 a) {directives}
{{
.reg .b64 %d<9>; .reg .f32 %f<300>;
ld.param.u64 %d1, [a]; cvta.to.global.u64 %d1, %d1;
{body}
ret;
}}
"""


def kernel(
    live: int, directives: str = "", target: str = "sm_90", function: str = ".visible .entry"
) -> Function:
    """A function that has so many values live at once."""
    loads = "\n".join(f"ld.volatile.global.f32 %f{n}, [%d1+{4 * n}];" for n in range(live))
    stores = "\n".join(f"st.volatile.global.f32 [%d1+{4 * n}], %f{n};" for n in range(live))
    text = KERNEL.format(target=target, function=function, directives=directives, body=loads + stores)
    return Module.parse(text).definitions["k"]


def estimate(function: Function, maxrregcount: int | None = None) -> RegisterEstimate:
    found = estimated_registers(function, maxrregcount=maxrregcount)
    assert found is not None
    return found


def test_the_value_of_a_model_is_the_sum_of_the_leaves() -> None:
    small: Tree = [0, 4, 5, LEAF, 100, 1, 7, 10, LEAF, 20, LEAF, 3000]
    assert value(packed([small]), (4, 0)) == 100 / UNITS
    assert value(packed([small]), (5, 7)) == 20 / UNITS
    assert value(packed([small, [LEAF, 5]]), (5, 8)) == 3005 / UNITS


def test_the_file_is_small_and_well_formed() -> None:
    data = json.loads(Path(FILE).read_bytes())
    assert Path(FILE).stat().st_size <= 100_000
    assert data["features"] == list(FEATURES)
    for name in MODELS:
        for tree in data[name]:
            assert leaves(tree, 0, len(tree)) == len(tree), name


def leaves(tree: Tree, at: int, end: int) -> int:
    """The end of the subtree at a place, having followed all of it."""
    if tree[at] == LEAF:
        return at + 2
    assert 0 <= tree[at] < len(FEATURES)
    right = tree[at + 2]
    assert leaves(tree, at + 3, right) == right
    return leaves(tree, right, end)


def test_a_kernel_costs_less_than_a_tenth_of_a_millisecond() -> None:
    function = kernel(20)
    simulated = simulated_registers(function)
    assert simulated is not None
    features = register_features(function, simulated)
    corrected(features)
    times: list[float] = []
    for _ in range(20):
        start = process_time()
        for _ in range(20):
            corrected(features)
        times.append((process_time() - start) / 20)
    assert min(times) < 1e-4


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (packed([[0, 5, 5, LEAF, 1, LEAF, 2]])[:-8], ValueError),
        (packed([[0, 5, 0, LEAF, 1]]), ValueError),
        (packed([[0, 5, -1, LEAF, 1]]), ValueError),
        (packed([[1, 5, 5, LEAF, 1, LEAF, 2]]), IndexError),
        (b"", ValueError),
        (b"\x09\0\0\0", ValueError),
    ],
)
def test_a_damaged_model_raises_an_error(model: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        value(model, (9,))


def test_the_packed_models_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "correction.json"
    copy.write_bytes(Path(FILE).read_bytes())
    monkeypatch.setattr(correction, "FILE", str(copy))
    correction.prepare()
    first = correction.correction.__wrapped__()
    monkeypatch.setattr(json, "load", None)
    assert correction.correction.__wrapped__() == first


def test_a_file_of_other_features_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "correction.json"
    other.write_text(json.dumps({**json.loads(Path(FILE).read_bytes()), "features": ["other"]}))
    monkeypatch.setattr(correction, "FILE", other)
    with pytest.raises(ValueError, match=r"correction\.json was trained with other features"):
        correction.correction.__wrapped__()


@pytest.mark.parametrize("command", [[], ["--select=register-step"]])
def test_a_run_without_kernels_does_not_import_it(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "a.ptx").write_text(
        KERNEL.format(target="sm_90", function=".entry", directives=".maxntid 64 .maxnreg 128", body="")
    )
    script = (
        "import sys; from ptx_lsp.cli.lint import main; main(sys.argv[1:]);"
        "print([m for m in sys.modules if m.startswith('ptx_lsp.analyses.registers.') and"
        " m.rpartition('.')[2] in ('correction', 'features', 'boosted_trees')])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script, "--no-cache", *command, str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("live", [0, 1, 10, 60, 200])
@pytest.mark.parametrize("target", ["sm_50", "sm_75", "sm_80", "sm_89", "sm_100a", "sm_121"])
@pytest.mark.parametrize("directives", ["", ".maxntid 1024", ".maxnreg 24", ".reqntid 32"])
def test_the_figures_are_consistent(live: int, target: str, directives: str) -> None:
    function = kernel(live, directives, target)
    found, simulated = estimate(function), simulated_registers(function)
    assert simulated is not None
    assert 0 < found.low <= found.estimate <= found.high <= simulated.bounds.register_limit
    assert found.peak_live <= found.estimate


def test_maxrregcount_caps_the_corrected_estimate() -> None:
    assert estimate(kernel(100), maxrregcount=32)[1:] == (32, *estimate(kernel(100), maxrregcount=32)[2:])
    assert estimate(kernel(100), maxrregcount=32).high == 32


def test_more_live_values_need_more_registers() -> None:
    """Trees have steps, but no step takes back much."""
    found = [estimate(kernel(live)).estimate for live in range(1, 160, 3)]
    for place, one in enumerate(found):
        assert one >= 0.9 * max(found[: place + 1]) - 2
    assert found[-1] >= 120


def test_an_edit_moves_the_estimate_little() -> None:
    """One value more or less changes neither end of the interval by more than a quarter."""
    found = [estimate(kernel(live)) for live in range(20, 40)]
    for before, after in pairwise(found):
        for one, other in zip(before, after, strict=True):
            assert abs(one - other) <= max(4, 0.25 * one)


def test_factors_are_bounded() -> None:
    far = factors(predicted(9.0, -9.0, 0.0), 1.0, 1.0)
    assert far.used < 2.3
    assert far.live > 0.4
    assert far.low < far.used < far.high


def test_functions_and_debug_builds_are_not_corrected() -> None:
    for function in (kernel(30, function=".func"), kernel(30, target="sm_90, debug")):
        simulated = simulated_registers(function)
        assert simulated is not None
        found = estimate(function)
        assert (found.estimate, found.peak_live) == (simulated.used, simulated.peak_live)
        assert found.low < found.estimate < found.high


def test_factors_apply_before_caps() -> None:
    simulated = simulated_registers(kernel(100, ".maxnreg 64"))
    assert simulated is not None
    assert with_factors(simulated, Factors(1.5, 1.5, 1.2, 2.0)) == (64, 64, 64, 64)
    assert with_factors(simulated, Factors(0.5, 0.5, 0.25, 1.0))[1:] == (64, 16, 64)
    assert with_factors(simulated._replace(wanted=66), Factors(0.5, 0.5, 0.25, 1.0))[1:] == (32, 16, 64)


@pytest.mark.parametrize(("target", "shown"), [("sm_75", (9, 6, 21)), ("sm_80", (8, 8, 20))])
def test_few_registers_are_even_from_sm_80_on(target: str, shown: tuple[int, int, int]) -> None:
    simulated = simulated_registers(kernel(1, target=target))
    assert simulated is not None
    simulated = simulated._replace(used=10)
    assert with_factors(simulated, Factors(0.89, 1.0, 0.6, 2.09))[1:] == shown
    assert with_factors(simulated, Factors(0.4, 1.0, 0.3, 0.5))[1:] == (4, 4, 5)
    assert with_factors(simulated, Factors(2.7, 1.0, 2.5, 3.1))[1:] == (27, 25, 31)


def test_classes_of_targets() -> None:
    classes = {
        name: target_class(target)
        for name in ("sm_50", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_103", "sm_120")
        if (target := parse_target(name)) is not None
    }
    assert list(classes.values()) == [0, 0, 1, 2, 2, 3, 3, 3, 4]


@pytest.mark.parametrize(
    ("spelling", "wanted"),
    [
        ("ld.global.nc.v4.f32", {"ld_global": 1, "ld_global_words": 4, "ld_wide": 1, "nc": 1}),
        ("st.shared::cta.v2.b64", {"st_shared": 1, "st_shared_words": 4}),
        ("fma.rn.f64", {"fma64": 1, "f64": 1}),
        ("mad.wide.u32", {"wide": 1}),
        ("mad.lo.s32", {"mad32": 1}),
        ("div.rn.f32", {"divf": 1}),
        ("div.approx.f32", {"sfu": 1}),
        ("rem.s64", {"div64": 1}),
        ("and.b64", {"bits": 1, "i64": 1}),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", {"mma": 1}),
        ("no.such.instruction", {"i32": 1}),
        ("ld", {"ld_generic": 1}),
    ],
)
def test_groups_of_instructions(spelling: str, wanted: dict[str, int]) -> None:
    assert {GROUPS[place]: weight for place, weight in groups(spelling)} == wanted
