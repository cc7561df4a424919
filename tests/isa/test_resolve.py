"""The table's verdicts on spellings and operands."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.matching.fit import Fit, fit, nearest_fits, outlines
from ptx_lsp.isa.matching.resolve import possible_next, resolve
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.target import Target, Version


def _register(type: str) -> Argument:
    return Argument("register", type)


@pytest.mark.parametrize(
    ("spelling", "kind", "index", "choice"),
    [
        ("mull.lo.s32", "unknown-opcode", 0, "mul"),
        ("mul.lo.s33", "unknown-modifier", 2, ".s32"),
        ("mul.s32", "missing-modifier", 0, ".lo"),
        ("mul.s32.lo", "modifier-not-allowed", 1, None),
        ("mul.wide.s64", "excluded", 0, None),
        ("add.sat.s16", "modifier-not-allowed", 1, None),
        ("add.s32.s32", "repeated-modifier", 2, None),
        ("add.ftz.ftz.f32", "repeated-modifier", 2, None),
        ("add.f16.f32", "modifier-not-allowed", 1, None),
        ("mma.sync.aligned.m8n8k16.col.row.s32.u8.u8.s32", "modifier-not-allowed", 5, None),
        ("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.xor", "modifier-not-allowed", 11, None),
        ("ldmatrix.sync.aligned.m8n8.m8n8.x1.b16", "repeated-modifier", 4, None),
    ],
)
def test_problems(spelling: str, kind: str, index: int, choice: str | None) -> None:
    resolution = resolve(spelling)
    assert not resolution.ok
    problem = resolution.problems[0]
    if kind == "missing-modifier":
        problem = next(one for one in resolution.problems if one.kind == kind)
    assert (problem.kind, problem.index) == (kind, index)
    assert choice is None or choice in problem.choices


@pytest.mark.parametrize(
    ("spelling", "choices"),
    [
        ("sub.u31", [".u32"]),
        ("add.s33", [".s32"]),
        ("sub.s23", [".s32"]),
        ("add.i32", [".s32"]),  # LLVM's word
        ("add.f31", [".f32"]),
        ("add.s8", [".s16", ".s32", ".s64"]),
        ("max.u8", [".u16", ".u32", ".u64"]),
        ("abs.u32", [".s32"]),
        ("min.b32", [".u32", ".s32"]),
        ("add.b8", [".u16", ".s16", ".u32", ".s32", ".u64", ".s64"]),
        ("shl.s32", [".b32"]),
        ("fma.rn.s32", []),  # it has no integer
        ("ld.gobal.u32", [".global"]),
        ("mul.low.s32", [".lo"]),
        ("setp.l", [".lt", ".ls", ".lo", ".le"]),
        ("ld.global.v5.f32", [".v8", ".v4", ".v2"]),
        ("add.wide.s32", []),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f6.f16.f32", [".f16"]),  # no .f64 there
        ("setp.nau.f64", [".nan"]),
    ],
)
def test_a_misspelt_modifier_meant_what_is_near(spelling: str, choices: list[str]) -> None:
    (problem,) = resolve(spelling).problems
    assert problem.kind == "unknown-modifier"
    assert list(problem.choices) == choices


def test_what_is_near_to_nothing_meant_what_is_missing_in_any_form() -> None:
    (problem,) = resolve("add.foo").problems
    assert {".s32", ".u64", ".f32"} <= set(problem.choices)


@pytest.mark.parametrize(
    ("spelling", "choices"),
    [
        ("ad.s32", ["add", "sad", "addc"]),
        ("br", ["bra"]),  # `brx` needs `.idx`
        ("cvat.to.global.u64", ["cvta"]),
        ("cvat.frm.u64", ["cvt", "cvta"]),  # no opcode takes the modifiers
        ("addd.s32", ["add", "addc"]),
        ("xyzzy.s32", []),
    ],
)
def test_a_misspelt_opcode_meant_one_that_takes_the_modifiers(spelling: str, choices: list[str]) -> None:
    (problem,) = resolve(spelling).problems
    assert problem.kind == "unknown-opcode"
    assert list(problem.choices) == choices


@pytest.mark.parametrize(
    ("spelling", "kind"),
    [
        ("add.s32.sat", "modifier-order"),
        ("add.sat.sat.s32", "repeated-modifier"),
        ("and.finite.b32", "ignored-modifier"),
        ("trap.rank", "ignored-modifier"),
        ("min.b8x16.s32", "ignored-modifier"),
        ("add.u32.texref", "ignored-modifier"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.pred.u32", "ignored-modifier"),
        ("and.b32.b2", "ignored-modifier"),
        ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16.bf16", "ignored-modifier"),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.tf32.f32", "ignored-modifier"),
        ("mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32.s4", "ignored-modifier"),
    ],
)
def test_what_ptxas_lets_pass_is_style(spelling: str, kind: str) -> None:
    (candidate,) = resolve(spelling).candidates
    assert [(problem.kind, problem.style) for problem in candidate.problems] == [(kind, True)]


@pytest.mark.parametrize(
    "spelling",
    [
        "add.finite.normal.f32",
        "add.rank.box_dim.f32",
        "mul.finite.lo.s32",
        "mul.lo.s32.pred",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32.texref",
        "add.u32.b2",
        "ldmatrix.sync.aligned.m8n8.x1.b8x16.b16",
        "tensormap.replace.tile.global_address.rank.global.b1024.b64",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.tf32.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32.tf32",
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s4.s32",
    ],
)
def test_what_ptxas_looks_at_is_not_ignored(spelling: str) -> None:
    assert not resolve(spelling).ok


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ((".s64", ".s32", ".s32"), None),
        ((".b64", ".b32", ".u32"), None),
        ((".s32", ".s32", ".s32"), 0),
        ((".s64", ".f32", ".s32"), 1),
        ((".s64", ".s32"), 2),
    ],
)
def test_operands(arguments: tuple[str, ...], wrong: int | None) -> None:
    match = resolve("mul.wide.s32").match(tuple(_register(type) for type in arguments))
    assert match is not None
    assert (match.problems[0].index if match.problems else None) == wrong


def test_requirements_name_the_modifier_that_demands_them() -> None:
    match = resolve("add.u8x4").match((_register(".b32"),) * 3)
    assert match is not None
    (need,) = match.unmet(Version(9, 5), Target(100, "f"))
    assert ".u8x4" in need.because.text
    assert match.unmet(Version(9, 2), Target(120, "a")) == ()


def test_possible_next_walks_the_forms() -> None:
    assert possible_next("mul24") == (".hi", ".lo")
    assert possible_next("bfind") == (".u32", ".u64", ".s32", ".s64", ".shiftamt")
    assert possible_next("min.relu") == (".s16x2", ".s32", ".s8x4")
    assert possible_next("nothing") == ()


def test_equal_modifiers_fill_their_slots_in_order_wherever_they_stand() -> None:
    (candidate,) = resolve("mma.f16.f16.f16.f16.row.col.m8n8k4.aligned.sync").candidates
    assert (candidate.choices["alayout"], candidate.choices["blayout"]) == (".row", ".col")


def test_equal_operand_lists_of_different_forms() -> None:
    """The first operand is written in every form, also in one with the operands of another form."""
    register = Argument("register", ".b32")
    for spelling in ("add.u32", "sub.u32", "min.u32", "max.u32", "and.b32", "xor.b32"):
        match = resolve(spelling).match((register,) * 3)
        assert match is not None
        assert [operand.access for _, operand in match.places] == ["write", "read", "read"]


@pytest.mark.parametrize(
    "spelling",
    [
        "mul.s32", "mul.lo.s33", "mul.lo.lo.s32", "ld.f32.f32", "cp.async.cg.shared", "cvt.rn.f32.f32.f32",
        "mma.sync.m8n8k4.f16.f16.f16", "add.finite.zero.f32", "tcgen05.mma.kind::f16", "red.async.inc.u32",
        "atom",
    ],
)  # fmt: skip
def test_the_nearest_forms_are_those_with_the_fewest_faults(spelling: str) -> None:
    opcode, *modifiers = spelling.split(".")
    words = tuple(f".{modifier}" for modifier in modifiers)
    entries = table.entries(opcode)
    fits = [fit(entry, outline, words) for entry in entries for outline in outlines(entry)]
    least = min(one.distance for one in fits)
    assert least[0] > 0
    nearest = nearest_fits(entries, words)
    assert [_form(one) for one in nearest if one.distance == least] == [
        _form(one) for one in fits if one.distance == least
    ]


def _form(fit: Fit) -> tuple[str, str]:
    return fit.candidate.entry.name, fit.candidate.form.text
