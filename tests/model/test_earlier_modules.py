"""An edit keeps untouched results, but not the text that they came from."""

from __future__ import annotations

import gc
import re
import weakref

import pytest

from ptx_lsp.ide.highlighting.encoded_tokens import flat, token_pieces
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.module_scope import Home
from ptx_lsp.syntax.item import Item
from ptx_lsp.text import Edit

TEXT = """.version 8.5
.target sm_90
.address_size 64
.entry first() { .reg .u32 %r<3>; add.u32 %r1, 1, 2; ret; }
.entry second() { .reg .u32 %r<3>; add.u32 %r1, 1, 2; ret; }
.entry third() { .reg .u32 %r<3>; add.u32 %r1, 1, 2; ret; }
"""


@pytest.mark.parametrize("edited", [0, 1, 2])
def test_functions_before_and_behind_an_edit_keep_their_facts(edited: int) -> None:
    linting = LintSession(Module.parse(TEXT))
    facts = [function.facts for function in linting.module.functions]
    at = [match.start() for match in re.finditer("1, 2", TEXT)][edited]
    document = linting.module.document.edited(Edit(at, at + 1, b"17"))
    module = LintSession(Module(document, linting.module), previous=linting).module
    kept = [new.facts is old for new, old in zip(module.functions, facts, strict=True)]
    assert kept == [number != edited for number in range(3)]


def test_facts_of_untouched_functions_keep_no_earlier_module() -> None:
    linting = LintSession(Module.parse(TEXT))
    facts = linting.module.functions[0].facts
    earlier = weakref.ref(linting.module)
    at = TEXT.rindex("1, 2")
    for _ in range(3):
        before = linting.module
        edited = before.document.edited(Edit(at, at, b" "))
        linting = LintSession(Module(edited, before), previous=linting)
        before.dispose(linting.module)
        del before
    gc.collect()
    assert linting.module.functions[0].facts is facts, "they were computed anew"
    assert facts
    assert earlier() is None


def test_facts_that_wait_to_be_brought_up_to_date_keep_no_earlier_module() -> None:
    linting = LintSession(Module.parse(TEXT))
    known: list[weakref.ref[Module]] = []
    at = TEXT.rindex("1, 2")
    gc.disable()
    try:
        for _ in range(3):
            known.append(weakref.ref(linting.module))
            before = linting.module
            edited = before.document.edited(Edit(at, at + 1, b"7"))
            linting = LintSession(Module(edited, before), previous=linting)
            before.dispose(linting.module)
            del before
        assert [earlier() for earlier in known] == [None, None, None]
    finally:
        gc.enable()


def test_no_other_function_is_looked_at_after_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    function = ".entry k%d() { .reg .u32 %%r<3>; add.u32 %%r1, 1, 2; ret; }\n"
    text = TEXT + "".join(function % number for number in range(200))
    linting = LintSession(Module.parse(text), all_rules())
    at = text.index("1, 2", text.index("k100"))
    looked_at: set[str] = set()
    moved_to = Function.moved_to

    def noted(function: Function, item: Item, home: Home) -> Function:
        looked_at.add(function.name)
        return moved_to(function, item, home)

    monkeypatch.setattr(Function, "moved_to", noted)
    module = Module(linting.module.document.edited(Edit(at, at + 1, b"17")), linting.module)
    for _ in LintSession(module, linting.rules, linting, staged=True).steps():
        pass
    assert looked_at == {"k100"}


def test_the_last_module_of_a_file_is_freed_at_once() -> None:
    gc.disable()
    try:
        linting = LintSession(Module.parse(TEXT), all_rules())
        module = linting.module
        left = [weakref.ref(one) for one in (module, module.document, *module.functions)]
        at = TEXT.rindex("1, 2")
        edited = None
        for _ in range(3):
            edited = Module(module.document.edited(Edit(at, at + 1, b"7")), module)
            linting = LintSession(edited, all_rules(), linting)
            left += [weakref.ref(one) for one in (edited, edited.document, *edited.functions)]
            module.dispose(edited)
            module = edited
        module.dispose(module)
        del module, linting
        edited = None
        assert [one() for one in left] == [None] * len(left)
    finally:
        gc.enable()


def test_an_earlier_module_stays_what_it_was() -> None:
    text = TEXT.replace("1, 2", "nowhere, 2")
    module = Module.parse(text)
    assert all(module.functions)  # all are placed
    wanted = [_told(function) for function in Module.parse(text).functions]
    at = text.index("nowhere")
    later = Module(module.document.edited(Edit(at, at, b"%r2, ")), module)
    last = text.index("third") - len(".entry ")
    latest = Module(later.document.edited(Edit(last + 5, len(text) + 5, b"")), later)
    assert len(latest.functions) == 2
    for one in (later, latest):
        assert all(function.module is one for function in one.functions)
    assert [_told(function) for function in module.functions] == wanted
    later.dispose(latest)
    assert [_told(function) for function in module.functions] == wanted
    assert all(function.module is module for function in module.functions)


def _told(function: Function) -> list[object]:
    module, item = module_of(function), function.item
    words = [function.text(one) for one in function.body.instructions]
    tokens = flat(token_pieces(module, "utf-8", item.span(function.node)))
    return [words, module.span(function.symbol.place), tokens]


@pytest.mark.parametrize("taken", range(0, 400, 7))
def test_a_linting_goes_on_while_the_next_module_is_made(taken: int) -> None:
    text = TEXT.replace("second() { .reg .u32 %r<3>; add.u32", "second() { .reg .u32 %r<3>; frob.u32")
    linting = LintSession(Module.parse(text), staged=True)
    steps = linting.steps()
    for _ in zip(range(taken), steps, strict=False):
        pass
    at = text.index("1, 2")
    module = Module(linting.module.document.edited(Edit(at, at + 1, b"1111111")), linting.module)
    next(steps, None)
    found = LintSession(module, previous=linting)
    fresh = LintSession(Module.parse(module.document.source.text))
    assert found.diagnostics == fresh.diagnostics


def test_the_worst_findings_are_those_of_the_text_read_anew() -> None:
    text = TEXT.replace("1, 2; ret;", "none, 2; add.u32 %r1, 1, 2; add.u32 %r1, last, 2;")
    linting = LintSession(Module.parse(text))
    at = linting.module.document.source.text.index("1, 2")
    module = Module(linting.module.document.edited(Edit(at, at + 1, b"middle")), linting.module)
    linting = LintSession(module, previous=linting)
    fresh = LintSession(Module.parse(module.document.source.text))
    assert all(linting.worst(most) == fresh.worst(most) for most in range(1, 12))


def test_an_edit_leaves_no_garbage_that_holds_the_text() -> None:
    """None of our objects: what else runs in this process may leave some of its own."""
    document = Module.parse(TEXT).document
    at = TEXT.rindex("1, 2")
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        document.edited(Edit(at, at + 1, b"7"))
        gc.collect()
        assert [one for one in gc.garbage if str(getattr(one, "__module__", "")).startswith("ptx_lsp")] == []
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
