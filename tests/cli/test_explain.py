"""`--explain` and `--rules`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptx_lsp.cli.explanations.modifier import word_names
from ptx_lsp.cli.run import main as run
from ptx_lsp.finding_kinds.registry import KINDS
from ptx_lsp.isa import directives, special_registers
from ptx_lsp.isa.schema import table
from ptx_lsp.lint.registry import all_rules
from tests.cli.conftest import Lint


@pytest.mark.parametrize(
    ("name", "first", "parts"),
    [
        ("undeclared-name", "error[E101] undeclared-name", ["What it does", "Use instead\n    .version"]),
        ("E101", "error[E101] undeclared-name", ["Fix safety"]),
        (".maxntid", ".maxntid (performance directive)", ["Syntax\n", "Where\n    kernel", "Needs\n"]),
        ("maxntid", ".maxntid (performance directive)", []),
        ("WARP_SZ", "WARP_SZ (constant)", ["The number of threads in a warp, 32.", "2*WARP_SZ"]),
        ("%laneid", "%laneid (special register)", ["Type\n    .u32", "Needs\n    PTX ISA 1.3"]),
        ("%tid.x", "%tid (special register)", ["Type\n    .v4 .u32"]),
        ("tid", "%tid (special register)", []),
        ("%pm3", "%pm3 (special register)", []),
        ("mul.wide.u32", "mul.wide.u32 (instruction)", ["Syntax\n", "mul.mode.type", "Example\n"]),
        ("add.u16x2", "add.u16x2 (instruction)", ["PTX ISA 8.0 and sm_90"]),
        (".wide", ".wide (modifier)", ["the result has twice the width", "Instructions\n    mad, mul"]),
        ("wide", ".wide (modifier)", []),
        (".hi", ".hi (modifier)", ["depends on the instruction", "\ndp2a\n    Multiplies by"]),
        (".e4m3", ".e4m3 (type)", ["4 exponent and 3 mantissa bits", "Needs\n    PTX ISA 8.1"]),
        (".f16x2", ".f16x2 (type)", ["Two .f16 in 32 bits", "PTX ISA 4.2 and sm_53 or higher"]),
        (".shared", ".shared (state space directive)",
         ["\n\n.shared (state space)\n", "Lifetime        the CTA", "\n\n.shared (modifier)\n"]),
        ("map_f64_to_f32", "map_f64_to_f32 (option of .target)", ["below sm_13", ".target sm_10, map"]),
        (".v3", ".v3 (vector length)", ["Use `.v4`"]),
        ("@!p", "@!p (guard)", ["whose predicate is false"]),
        ("@", "@ (guard)", []),
        ("{}", "{} (block)", ["{} (vector)", "discards an element"]),
        ("race", "race (finding of ptx-run --check)", ["Example\n", "Use instead\n", "    bar.sync 0;\n"]),
        ("deadlock", "deadlock (error that stops a kernel)", ["`%r1` is `%tid.x`"]),
        ("uninitialized-register", "uninitialized-register (finding of ptx-run --check)", ["selp.u32"]),
        ("divergent-barrier", "warning[W250] divergent-barrier", ["\ndivergent-barrier (finding of ptx-run"]),
        ("noreturn", ".noreturn (function directive)", ["\n\nnoreturn (finding of ptx-run --check)\n"]),
        ("trap", "trap (instruction)", ["\n\ntrap (error that stops a kernel)\n"]),
        ("frc", "frc (removed instruction)", ["`cvt.rmi.f32.f32` and `sub.f32`"]),
    ],
)
def test_explained(lint: Lint, name: str, first: str, parts: list[str]) -> None:
    done = lint("--explain", name)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(first + "\n")
    for part in parts:
        assert part in done.out


def test_a_spelling_is_explained_word_by_word(lint: Lint) -> None:
    assert lint("--explain", "mul.wide.u32").out == """\
mul.wide.u32 (instruction)
Multiplies two integers and keeps the low half, the high half or all of the product.

Syntax
    mul.mode.type d, a, b;
    .mode = { .hi, .lo, .wide };
    .type = { .u16, .u32, .u64, .s16, .s32, .s64 };

Modifiers
    .wide  Takes all of the product: the result has twice the width of the factors.
    .u32   Unsigned 32-bit integer.

Operands
    d     .u64 register, written
    a, b  .u32 register or constant

Results
    a .u32      b .u32         d .u64
         1           1 ->           1
         1           0 ->           0
         1           7 ->           7
         1  4294967295 ->  4294967295
         1  2147483648 ->  2147483648
         7           7 ->          49
         1         100 ->         100
         7  4294967295 -> 30064771065
         1  2147483647 ->  2147483647
         7  2147483648 -> 15032385536

Needs
    any PTX ISA version and target

Example
    mul.wide.u32 %rd1, %r1, 4;
"""


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ld.global.v4.f32", ["vector of 4 .f32 registers, written", "a             address in .global"]),
        ("ldu.global.u32", ["address in .global (.unified may follow)"]),
        ("st.shared.b32", ["address in .shared, written"]),
        ("atom.global.add.u32", ["address in .global, read and written"]),
        ("tex.2d.v4.f32.f32", ["optional: predicate register, written", "operand offset: PTX ISA 4.3"]),
        ("vadd4.u32.u32.u32.sat", ["(.b0000 to .b7777 may follow)"]),
        ("cvt.rn.satfinite.e4m3x2.f32", [".e4m3x2 in a .b16 register, written"]),
        ("setmaxnreg.inc.sync.aligned.u32", ["constant (24, 32, 40, ..., 256)"]),
        ("bar.sync", ["constant (0 to 15)", "constant (a multiple of 32)"]),
        ("cp.async.bulk.wait_group.read", ["N  constant"]),
        ("call.uni", ["the name of a function"]),
    ],
)
def test_operands_are_those_of_the_spelling(lint: Lint, name: str, parts: list[str]) -> None:
    out = lint("--explain", name).out
    for part in parts:
        assert part in out, out


def test_syntax_is_that_of_the_spelling(lint: Lint) -> None:
    name = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    out = lint("--explain", name).out
    assert "    .dst = { .shared::cluster };\n    .src = { .global };" in out
    assert "(11 more: --explain cp.async.bulk.tensor)" in out
    assert "newAddress" not in out
    assert "newAddress" in lint("--explain", "cp.async.bulk.tensor").out


def test_families_of_modifiers_are_told_once(lint: Lint) -> None:
    out = lint("--explain", "wgmma.mma_async").out
    listed = out.partition("\nModifiers\n")[2].partition("\nNeeds\n")[0]
    assert listed.count(".m64n") == 1


def test_needs_are_those_of_the_spelling(lint: Lint) -> None:
    assert "sm_90" not in lint("--explain", "add.u32").out
    assert ".u16x2" in lint("--explain", "add").out


def test_a_wrong_modifier_is_told(lint: Lint) -> None:
    out = lint("--explain", "add.s33").out
    assert out.startswith("add.s33: ")
    assert "Adds two integers" in out


def test_everything_is_explained(lint: Lint) -> None:
    names = [rule.name for rule in all_rules()]
    names += directives.DIRECTIVES
    names += [entry.name for entry in table.all_entries()]
    names += [name for name, _ in special_registers.rows() if "[" not in name]
    names += [*word_names(), *KINDS]
    for name in dict.fromkeys(names):
        done = lint("--explain", name)
        assert (done.status, done.err) == (0, ""), name
        assert done.out.count("\n") >= 2, name


def test_unknown_names_are_wrong_usage(lint: Lint) -> None:
    for name, near in ((".widee", "`.wide`"), (".e4m33", "`.e4m3`"), ("mull", "`mul`"), ("races", "`race`")):
        done = lint("--explain", name)
        assert (done.status, done.out) == (2, "")
        assert f"did you mean {near}?" in done.err


def test_the_example_of_the_page_is_what_is_printed(lint: Lint) -> None:
    page = (Path(__file__).parents[2] / "docs" / "ptx-lint.md").read_text()
    assert f"--explain mul.wide.u32\n{lint('--explain', 'mul.wide.u32').out}```" in page


def test_rules(lint: Lint) -> None:
    lines = lint("--rules").out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        [rule.code, rule.severity, rule.name] for rule in all_rules()
    ]
    rows = json.loads(lint("--rules", "--format", "json").out)
    assert [row["rule"] for row in rows] == [rule.name for rule in all_rules()]


@pytest.mark.parametrize("name", ["ptxas", "over-budget"])
def test_what_no_rule_finds_is_explained(lint: Lint, name: str) -> None:
    assert lint("--explain", name).out.startswith(f"{name} (of no rule)\n")


@pytest.mark.parametrize("name", ["race", "mul.wide.u32"])
def test_ptx_run_explains_the_same(lint: Lint, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--explain", name]) == 0
    out = capsys.readouterr().out
    assert out == lint("--explain", name).out


def test_ptx_run_suggests_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--explain", "deadlok"]) == 2
    assert capsys.readouterr().err == "ptx-run: error: unknown name `deadlok`; did you mean `deadlock`?\n"
