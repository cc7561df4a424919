"""What an edit did not touch is kept, and the text that it once stood in is not."""

from __future__ import annotations

import gc
import re
import weakref

import pytest

from ptx_lsp.lint.engine import Linting
from ptx_lsp.model.module import Module
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
    linting = Linting(Module.parse(TEXT))
    facts = [function.facts for function in linting.module.functions]
    at = [match.start() for match in re.finditer("1, 2", TEXT)][edited]
    document = linting.module.document.edited(Edit(at, at + 1, b"17"))
    module = Linting(Module(document, linting.module), previous=linting).module
    kept = [new.facts is old for new, old in zip(module.functions, facts, strict=True)]
    assert kept == [number != edited for number in range(3)]


def test_facts_of_untouched_functions_keep_no_earlier_module() -> None:
    linting = Linting(Module.parse(TEXT))
    facts = linting.module.functions[0].facts
    earlier = weakref.ref(linting.module)
    at = TEXT.rindex("1, 2")
    for _ in range(3):
        edited = linting.module.document.edited(Edit(at, at, b" "))
        linting = Linting(Module(edited, linting.module), previous=linting)
    gc.collect()
    assert linting.module.functions[0].facts is facts, "they were computed anew"
    assert facts
    assert earlier() is None


def test_facts_that_wait_to_be_brought_up_to_date_keep_no_earlier_module() -> None:
    linting = Linting(Module.parse(TEXT))
    known: list[weakref.ref[Module]] = []
    at = TEXT.rindex("1, 2")
    gc.disable()
    try:
        for _ in range(3):
            known.append(weakref.ref(linting.module))
            before = linting.module
            edited = before.document.edited(Edit(at, at + 1, b"7"))
            linting = Linting(Module(edited, before), previous=linting)
            before.retire(linting.module)
            del before
        assert [earlier() for earlier in known] == [None, None, None]
    finally:
        gc.enable()
