"""A module that continues an earlier one knows all that one read anew knows, at the places of now."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.analyses.control_flow.call_graph import call_graph_node
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.strength import seeds

TEXT = """.version 8.5
.target sm_90
.address_size 64
.global .b32 table;
.global .b32 range<3>;
.func helper(.param .b32 a);
.entry first() { .reg .b32 %r<3>; ld.global.u32 %r1, [range1]; call later, (%r1); ret; }
.func later(.param .b32 b) { .reg .b32 %r<3>; st.global.u32 [last], %r0; call helper, (%r1); ret; }
.global .b32 last = table;
.func helper(.param .b32 a) { .reg .b32 %r<3>; st.global.u32 [table], %r1; call later, (%r1); ret; }
.entry second() { .reg .b32 %r<3>; mov.u64 %r1, missing; call helper, (%r1); ret; }
.entry second() { .reg .b32 %r<3>; call later, (%r1); ret; }
.alias helper, later;
"""
PIECES = ["%r1", "%r2, ", " ", "\n", "ret;", "last", "}", "{", ".reg .b32 %q;", "helper", "// x\n", ";", "1"]


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_after_edits_it_is_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    module = Module.parse(TEXT)
    for _ in range(25):
        size = len(module.document.source.data)
        at = chance.randrange(size)
        end = min(size, at + chance.choice([0, 0, 1, 2, 5]))
        edit = Edit(at, end, chance.choice(PIECES).encode())
        module = Module(module.document.edited(edit), module)
        fresh = Module(Document.parse(Source(module.document.source.data)))
        assert _told(module) == _told(fresh)


def _told(module: Module) -> list[object]:
    starts = [item.start for item in module.document.items]
    found: list[object] = [
        (name, start, symbol.kind, module.span(symbol.place))
        for name in (*module.names, "range0", "range2", "range3", "missing")
        for start in starts
        if (symbol := module.find(name, start)) is not None
    ]
    found += [[module.span(one.symbol.place), module.span(one.first.place)] for one in module.repeated]
    found += [name.text for _, name in module.undeclared]
    found += [module.span(variable.place) for variable in module.variables]
    found += [list(module.names), list(module.definitions)]
    return [*found, *map(_told_of, module.functions)]


def _told_of(function: Function) -> list[object]:
    module, item = module_of(function), function.item
    assert module.function_at(item.start) is function
    return [
        function.name,
        (item.start, item.end),
        module.span(function.symbol.place),
        {name: module.span(symbol.place) for name, symbol in function.linked.items()},
        sorted(item.offset(one.name.start) for one in function.undeclared),
        sorted((item.offset(use.name.start), late.name) for use, late in function.undeclared_late),
        [function.text(one) for one in function.body.instructions],
    ]


def test_callers_of_an_edited_function_are_judged_anew() -> None:
    module = Module.parse(TEXT)
    at = TEXT.index("st.global.u32 [last]")
    edited = Module(module.document.edited(Edit(at, at, b"ret; ")), module)
    pairs = zip(edited.functions, module.functions, strict=True)
    changed = [new.name for new, old in pairs if new.environment != old.environment]
    assert changed == ["first", "helper", "second"]  # that with the undeclared name calls another one


def test_a_function_that_has_moved_since_is_the_same_one() -> None:
    module = Module.parse(TEXT)
    at = TEXT.index("ret;")
    later = next(one for one in module.functions if one.name == "helper" and one.symbol.is_definition)
    edited = Module(module.document.edited(Edit(at, at, b"// x\n")), module)
    assert later.module is module
    module.dispose(edited)
    assert later.module is edited
    assert edited.definitions["helper"] is not later
    assert call_graph_node(later).is_recursive
    assert not call_graph_node(edited.definitions["second"]).is_recursive


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r<3>; st.global.u32 [last]", "%r<3>, missing; st.global.u32 [last]"),
        ("(%r1); ret; }\n.global", "(%r1); missing: ret; }\n.global"),
    ],
)
def test_what_others_declare_is_near_an_undeclared_name(old: str, new: str) -> None:
    module = Module.parse(TEXT)
    linting = LintSession(module)
    for wanted, given in ((old, new), ("missing", "\nmissing"), ("\nmissing", ""), ("later,", "helper,")):
        at = module.document.source.text.index(wanted)
        edit = Edit(at, at + len(wanted), given.encode())
        module = Module(module.document.edited(edit), module)
        linting = LintSession(module, previous=linting)
        assert linting.diagnostics == LintSession(Module.parse(module.document.source.text)).diagnostics


def test_options_of_the_target_count_as_it_does() -> None:
    text = TEXT.replace("ret; }", ".local .b8 own[8]; ret; }")
    linting = LintSession(Module.parse(text), all_rules())
    at = text.index("sm_90") + 5
    edited = Module(linting.module.document.edited(Edit(at, at, b", debug")), linting.module)
    fresh = Module.parse(edited.document.source.text)
    assert (
        LintSession(edited, all_rules(), linting).diagnostics
        == LintSession(fresh, all_rules()).diagnostics
    )


@pytest.mark.parametrize("number", ["1", "0", "0" * 5000 + "1"])
@pytest.mark.parametrize(
    "text",
    [
        ".reg .b32 %r<3>; mov.b32 %r1, %rNUMBER; mov.b32 %r1, rangeNUMBER;",
        ".reg .b32 %rNUMBER; .reg .b32 %r<3>;",
        ".reg .b32 %r<NUMBER>; mov.b32 %r0, NUMBER;",
        "few: .branchtargets L<NUMBER>; L0: ret;",
        "} .version NUMBER.5\n.target sm_NUMBER\n.address_size NUMBER\n.func b() {",
    ],
)
def test_numbers_may_have_any_number_of_digits(text: str, number: str) -> None:
    digits = number * 5000 if len(number) == 1 else number
    module = Module.parse(".global .b32 range<3>;\n.func a() {" + text.replace("NUMBER", digits) + "}")
    assert module.target is None
    assert [instructions(function) for function in module.functions]


def test_comments_about_inline_assembly_count() -> None:
    text = ".version 8.5\n.target sm_90\n.entry f() {\ntrap;\n// end inline asm\nbar.sync 0;\nret;\n}\n"
    linting = LintSession(Module.parse(text))
    for wanted, given in (("// end inline asm", "// end"), ("// end", "// end inline asm")):
        at = linting.module.document.source.text.index(wanted)
        edit = Edit(at, at + len(wanted), given.encode())
        edited = Module(linting.module.document.edited(edit), linting.module)
        before, linting = linting, LintSession(edited, previous=linting)
        assert linting.diagnostics == LintSession(Module.parse(edited.document.source.text)).diagnostics
        assert [one.rule for one in linting.diagnostics] != [one.rule for one in before.diagnostics]
