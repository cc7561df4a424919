"""The graph of a function after edits that nobody looked at in between."""

from __future__ import annotations

import pytest

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

TEXT = b""".version 8.5
.target sm_90
.address_size 64
.entry k()
{
    .reg .pred %p;
    .reg .b32 %r;
    @%p bra Y;
    add.s32 %r, %r, 1;
X:
    add.s32 %r, %r, 2;
Y:
    add.s32 %r, %r, 3;
    add.s32 %r, %r, 4;
    ret;
}
"""


def test_a_block_that_a_jump_leads_to_has_another_number() -> None:
    module = Module(Document.parse(Source(TEXT)))
    assert cfg(module.functions[0]).blocks[0].successors == (1, 3)
    fourth = TEXT.index(b"    add.s32 %r, %r, 4;")
    label = TEXT.index(b"X:\n")
    for edit in (Edit(fourth, fourth, b"Z:\n"), Edit(label, label + 3, b"")):  # as many blocks as before
        module = Module(module.document.edited(edit), module)
    found = cfg(module.functions[0])
    assert found.blocks[0].successors == (1, 2)
    fresh = Module(Document.parse(Source(module.document.source.data)))
    assert found.blocks == cfg(fresh.functions[0]).blocks


UNREACHED = b""".version 8.5
.target sm_90
.address_size 64
.entry k()
{
    .reg .pred %p;
    .reg .b32 %r;
    @%p bra X;
    bra Y;
    ret;
X:
    add.s32 %r, %r, 1;
Y:
    ret;
}
"""
AFTER_RET = UNREACHED.index(b"X:\n    add")


@pytest.mark.parametrize("has_it", [False, True])
def test_a_jump_that_is_not_reached_begins_no_block(has_it: bool) -> None:
    more = b"    add.s32 %r, %r, 2;\n"
    longer = UNREACHED[:AFTER_RET] + more + UNREACHED[AFTER_RET:]
    before, after = (longer, UNREACHED) if has_it else (UNREACHED, longer)
    edit = Edit(AFTER_RET, AFTER_RET + len(more) * has_it, more * (not has_it))
    module = Module(Document.parse(Source(before)))
    assert cfg(module.functions[0]).blocks[2].successors == ((3,) if has_it else (5,))
    found = cfg(Module(module.document.edited(edit), module).functions[0])
    assert found.blocks == cfg(Module(Document.parse(Source(after))).functions[0]).blocks
