"""Rules and facts about all functions run only for functions that wake them, and miss nothing in others."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.lint.configuration.rule_index import WAKES
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.rule import Rule, directive_rule, function_rule
from ptx_lsp.model.directive_shape import DirectiveShapes
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import (
    FunctionWake,
    collect_over_functions,
    directive_shape,
    function_features,
    having,
    having_directives,
    opcodes,
)
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.module import Module
from ptx_lsp.text import Edit
from tests.lint.markdown import cases

_WAKE = (FunctionWake, InstructionWake)
ROOT = Path(__file__).parents[2]
EVERY = Rules(frozenset(rule.name for rule in all_rules()))
HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"


def _texts() -> Iterator[tuple[str, str]]:
    for path in sorted(Path(__file__).parent.glob("*.md")):
        for case in cases(path):
            yield case.title, case.source
    for rule in all_rules():
        for number, block in enumerate(rule.documentation.split("```ptx\n")[1:]):
            yield f"{rule.name} {number}", block.partition("```")[0]
    for path in sorted((ROOT / "tests" / "oracle" / "corpus").rglob("*.ptx"))[::10]:
        yield path.stem, path.read_text()


@pytest.mark.parametrize("text", [pytest.param(text, id=title) for title, text in _texts()])
def test_no_wake_is_too_narrow(text: str) -> None:
    """Without regard to wakes, each rule finds no more in a function, and each fact is the same."""
    module = Module.parse(text)
    found = {(one.rule, one.span, one.message) for one in LintSession(module, all_rules()).diagnostics}
    for known, by_number in module.aggregates.items():
        if known is not LintSession:
            assert callable(known)
            every: list[object] = [known(function) for function in module.functions]
            assert by_number == {number: value for number, value in enumerate(every) if value}
    for rule in all_rules():
        for function in module.functions if rule.on_function is not None else ():
            assert rule.on_function is not None
            for finding in rule.on_function(function):
                assert (rule.name, module.span(finding.place), finding.message) in found
    awake = {rule.name for rule in EVERY.awake(module)}
    assert {rule for rule, _, _ in found} <= awake


def test_what_nothing_wakes_is_left_out() -> None:
    def awake(body: str) -> set[str]:
        text = f"{HEADER}.entry first(.param .u64 p) {{ .reg .b32 %r<3>; {body} ret; }}"
        return {rule.name for rule in EVERY.awake(Module.parse(text))}

    often = awake("")
    assert not often & {"slow-division", "wrong-operand", "divergent-barrier", "setmaxnreg-ignored"}
    assert awake("div.u32 %r0, %r1, %r2;") == often | {"slow-division"}
    assert "wrong-operand" in awake("mov.b32 %r0;")
    assert "setmaxnreg-ignored" in awake("setmaxnreg.dec.sync.aligned.u32 40;")
    assert "divergent-barrier" not in awake("bar.sync 0;")
    assert "divergent-barrier" in awake("bar.sync 0; @%p bra HERE; HERE:")


def test_what_no_word_wakes_is_left_out() -> None:
    def awake(text: str) -> set[str]:
        return {rule.name for rule in EVERY.awake(Module.parse(HEADER + text))}

    seldom = {rule.name for rule in all_rules() if rule.words}
    often = awake(".entry first() { ret; }")
    assert {"unknown-pragma", "invalid-alias", "wrong-attribute", "noreturn-returns"} <= seldom
    assert not often & seldom
    pragmas = {"unknown-pragma", "wrong-pragma", "stray-pragma"}
    assert awake('.entry first() { .pragma "nounroll"; ret; }') - often == pragmas
    guarded = "@%p bra HERE; HERE: mma.sync{};"
    aligned, plain = (awake(f".entry first() {{ {guarded.format(word)} }}") for word in (".aligned", ""))
    assert aligned - plain == {"divergent-aligned"}
    assert awake("// .alias\n.entry first() .maxntid 1, 1, 1 { ret; }") - often >= {"block-too-large"}


def test_the_index_depends_on_every_file_with_wakes_of_rules() -> None:
    used: set[object] = set()
    for rule in all_rules():
        values = list(vars(sys.modules[f"ptx_lsp.lint.rules.{rule.module}"]).values())
        for module in [value for value in values if isinstance(value, ModuleType)]:
            values += vars(module).values()
        used.update(value for value in values if isinstance(value, _WAKE))
    files: set[str] = set()
    for name, module in list(sys.modules.items()):
        place = getattr(module, "__file__", None) or ""
        if name.startswith("ptx_lsp.") and ".lint.rules" not in name and place.endswith(".py"):
            text = Path(place).read_text(encoding="utf-8")
            wakes = {key: one for key, one in vars(module).items() if isinstance(one, _WAKE)}
            names = [key for key, one in wakes.items() if one in used]
            if any(re.search(rf"^{key}\b[^=\n]*= ", text, re.MULTILINE) for key in names):
                files.add(Path(place).relative_to(ROOT).as_posix())
    assert files <= set(WAKES)
    assert "ptx_lsp/lint/divergence.py" in files


# -- only what wakes ----------------------------------------------------------------------------------

TEXT = HEADER + """
.entry first(.param .u64 p) { .reg .u32 %r<3>; .reg .u32 %q<3>; bar.sync 0; ret; }
.entry second(.param .u64 q) { .reg .u32 %s<700>; ret; }
.entry third(.param .u64 p) { .reg .u32 %r<3>; HERE: ret; }
.entry fourth(.param .u32 p) { .pragma "nounroll"; ret; }
"""
ran: list[str] = []
asked: list[str] = []


@function_rule("with-barrier", code="W298", wake=opcodes("bar", "barrier"))
def with_barrier(function: Function) -> Iterator[Finding]:
    ran.append(function.name)
    yield Finding(function.symbol.place, "a barrier")


@function_rule(
    "labelled-or-barrier",
    code="W298",
    wake=having(lambda one: one.body.labels) | opcodes("bar"),
)
def labelled_or_barrier(function: Function) -> Iterator[Finding]:
    ran.append(function.name)
    yield Finding(function.symbol.place, "a label or barrier")


@function_rule(
    "kernel-and-label",
    code="W298",
    wake=having(lambda one: one.is_kernel) & having(lambda one: one.body.labels),
)
def kernel_and_label(function: Function) -> Iterator[Finding]:
    ran.append(function.name)
    yield Finding(function.symbol.place, "a label")


@directive_rule("pragma", code="W298")
def pragma(function: Function) -> Iterator[Finding]:
    ran.append(function.name)
    if pragmas(function):
        yield Finding(function.symbol.place, "a pragma")


@directive_fact
def pragmas(function: Function) -> tuple[str, ...]:
    return tuple(type(one.node).__name__ for one in function.body.directives)[3:]


@directive_fact
def narrow(function: Function) -> tuple[str, ...]:
    asked.append(function.name)
    modifiers = (node.modifiers[0].text for node in function.node.parameters or ())
    return tuple(text for text in modifiers if text == ".u32")


@fact
def anything(function: Function) -> tuple[str, ...]:
    asked.append(function.name)
    return (function.name,)


NARROW = having_directives(narrow)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (with_barrier, ["first"]),
        (labelled_or_barrier, ["first", "third"]),
        (kernel_and_label, ["third"]),
        (pragma, ["first", "fourth"]),  # not those with the directives of the first
    ],
    ids=lambda value: value.name if isinstance(value, Rule) else "",
)
def test_only_woken_rules_run(rule: Rule, expected: list[str]) -> None:
    ran.clear()
    LintSession(Module.parse(TEXT), (rule,))
    assert ran == expected


def test_an_edit_wakes_a_rule() -> None:
    session = LintSession(Module.parse(TEXT), (with_barrier,))
    ran.clear()
    at = TEXT.rindex("ret;")
    document = session.module.document.edited(Edit(at, at, b"bar.sync 0; "))
    edited = LintSession(Module(document, session.module), (with_barrier,), session)
    assert ran == ["fourth"]
    assert len(edited.diagnostics) == 2


def test_facts_about_directives_are_asked_for_once_for_a_shape() -> None:
    asked.clear()
    module = Module.parse(TEXT)
    assert list(collect_over_functions(narrow, module)) == [".u32"]
    assert asked == ["first", "fourth"]
    asked.clear()
    assert list(collect_over_functions(anything, module, NARROW)) == ["fourth"]
    assert asked == ["fourth"]


def test_later_wakes_count() -> None:
    function = next(iter(Module.parse(TEXT).functions))
    function_features(function)
    wake = opcodes("ret")
    assert wake.wakes(function_features(function))


def test_a_failing_condition_wakes() -> None:
    def fail(function: Function) -> bool:
        raise ValueError(function.name)

    wake = having(fail)
    assert all(wake.wakes(function_features(one)) for one in Module.parse(TEXT).functions)


# -- shapes of directives -----------------------------------------------------------------------------


def _shapes(text: str) -> list[object]:
    return [directive_shape(function) for function in Module.parse(HEADER + text).functions]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".func f() { ret; }", ".func g() { add.u32 1; ret; }"),
        (".func f(.reg .u32 %a) { .reg .b32 %r<9>; }", ".func g(.reg .u32 %b) { .reg .b32 %q<19>; }"),
        (".func f() { .reg .b32 %a; .reg .b32 %b; }", ".func g() { .reg .b32 %r<8>; }"),
        ('.func f() { .pragma "nounroll"; }', '.func g() { .pragma "nounroll"; .pragma "nounroll"; }'),
        (".entry f() .maxntid 8 { .loc 1 2 3 }", ".entry g() .maxntid 8 { { ret; } }"),
    ],
)
def test_same_shape(one: str, other: str) -> None:
    first, second = _shapes(f"{one}\n{other}")
    assert first is second
    assert first is not None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".func f() { ret; }", ".entry g() { ret; }"),
        (".func f() { ret; }", ".visible .func g() { ret; }"),
        (".func f() { ret; }", ".func g() .noreturn { ret; }"),
        (".func f();", ".func g() { ret; }"),
        (".entry f() .maxntid 8 { ret; }", ".entry g() .maxntid 9 { ret; }"),
        (".entry f() { .reg .b32 %r<9>; }", ".entry g() { .reg .b64 %r<9>; }"),
        (".entry f() { .reg .b32 %r<9>; }", ".entry g() { .reg .b32 %r<9999999999>; }"),
        (".entry f() { .reg .b32 %r; }", ".entry g() { .reg .b32 WARP_SZ; }"),
        (".entry f() { .local .b8 a[4]; }", ".entry g() { .local .b8 a[8]; }"),
        (".entry f() { .local .b8 a[4]; }", ".entry g() { .local .align 4 .b8 a[4]; }"),
        (".entry f() { .local .b8 a; }", ".entry g() { .local .b8 a; .local .b8 b; }"),
        ('.entry f() { .pragma "a"; }', '.entry g() { .pragma "b"; }'),
        (".func f(.param .b32 a);", ".func g(.param .b32 _);"),
        (".func f() { P: .callprototype _(.param .b32 _); }", ".func g() { P: .callprototype _(); }"),
        (".func f() { P: .callprototype _(); }", ".func g() { .callprototype _(); }"),
    ],
)
def test_different_shapes(one: str, other: str) -> None:
    first, second = _shapes(f"{one}\n{other}")
    assert first is not second


@pytest.mark.parametrize(
    "text",
    [
        ".entry f() { .const .b32 a = 1; }",
        ".entry f() { L: .branchtargets L; }",
        ".entry f() { .shared .b32 a = f; }",
        ".entry %clock() { }",
        ".entry f() { .alias a, b; }",
        ".entry f() { .reg .b32 }",
    ],
)
def test_no_shape(text: str) -> None:
    assert _shapes(text) == [None]


def test_a_shape_lasts_as_long_as_the_header() -> None:
    module = Module.parse(TEXT)
    before = directive_shape(module.functions[1])
    at = TEXT.index(".u64 q")
    edited = Module(module.document.edited(Edit(at, at + 6, b".u64 z")), module)
    assert directive_shape(edited.functions[1]) is before
    at = TEXT.index("sm_90")
    other = Module(module.document.edited(Edit(at, at + 5, b"sm_80")), module)
    assert directive_shape(other.functions[1]) is not before


def test_shapes_are_forgotten_before_they_are_too_many() -> None:
    shapes = DirectiveShapes()
    body = "".join(f".local .b8 a{number}[{number + 1}];\n" for number in range(2_000))
    function = Module.parse(f"{HEADER}.entry f() {{\n{body}}}").functions[0]
    first = shapes.of(function.node, function.body.directives)
    assert shapes.of(function.node, function.body.directives) is first
    for count in range(2_000, 1_900, -1):
        shapes.of(function.node, function.body.directives[:count])
    assert shapes.of(function.node, function.body.directives) is not first
