"""What an edit did not touch is kept, and the text that it once stood in is not."""

from __future__ import annotations

import gc
import weakref

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
    for _ in range(3):
        known.append(weakref.ref(linting.module))
        before = linting.module
        edited = before.document.edited(Edit(at, at + 1, b"7"))
        linting = Linting(Module(edited, before), previous=linting)
        before.retire(linting.module)
        del before
    assert [earlier() for earlier in known] == [None, None, None], "without a garbage collection"
