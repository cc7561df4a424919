"""Edits inside one kernel give what the text read anew gives: nodes, findings and all facts."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from benchmarks.analyses import one_kernel
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.properties.analysis_results import analysis_results
from tests.properties.offsets import items
from tests.properties.test_edits import TOKENS
from tests.strength import seeds

_CALLS = b"""\
.version 8.5
.target sm_90
.address_size 64
.file 1 "a.cu"
.global .align 4 .b8 table[16];
.extern .func (.param .b32 r) known(.param .b32 a);
.func (.param .b32 r) other(.param .b32 a)
{
    .reg .b32 %r<4>;
    ld.param.b32 %r1, [a];
    add.s32 %r2, %r1, 1;
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry kernel(.param .u64 .ptr .global .align 4 out, .param .u32 count)
.maxntid 256
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<8>;
    .shared .align 8 .b8 tile[256];
    .local .align 4 .b8 own[8];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %tid.x;
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r2, 128;
    add.s64 %rd4, %rd2, %rd3;
    add.s64 %rd5, %rd4, 16;
    .pragma "used_bytes_mask 0xff";
    ld.global.u32 %r3, [%rd4];
    ld.global.u32 %r4, [%rd5+4];
    ld.u32 %r7, [%rd1];
    mov.u64 %rd6, tile;
    ld.shared.u32 %r8, [%rd6+252];
    st.shared.u32 [tile+252], %r3;
    bar.sync 0;
    {
        .param .b32 given;
        .param .b32 back;
        st.param.b32 [given], %r3;
        call.uni (back), other, (given);
        ld.param.b32 %r5, [back];
    }
    setp.eq.s32 %p2, %r5, 0;
    @%p2 shfl.sync.idx.b32 %r6, %r5, 0, 31, 0xffff;
AGAIN:
    .pragma "nounroll";
    add.s32 %r5, %r5, -1;
    setp.gt.s32 %p3, %r5, %r2;
    @%p3 bra AGAIN;
    table_of: .branchtargets AGAIN, DONE, NEXT;
    brx.idx %r6, table_of;
NEXT:
    {
        .reg .b32 %inner;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        mov.u64 %rd7, known;
        .param .b32 given;
        .param .b32 back;
        st.param.b32 [given], %r6;
        call (back), %rd7, (given), proto;
        mov.u32 %inner, %r6;
        xor.b32 %r9, %inner, %r6;
    }
    st.local.u32 [own+8], %r6;
    .loc 1 2 3, function_name $L__info, inlined_at 1 4 5
    st.global.u32 [%rd4], %r9;
DONE:
    ret;
}
"""
_LINES = [
    b"{", b"}", b"add.s32 %r1, %r2, %r3;", b"mov.u32 %r1, %tid.x;", b"bar.sync 0;",
    b"@%p1 bra HERE;", b"HERE:", b".reg .b32 %new;", b"ret;", b"// a comment",
    b"/* two\nlines */", b".loc 1 2 3", b"ld.global.u32 %r1, [%rd1];",
    b'.pragma "nounroll";', b"mov.b32 %r1, unknown_name;", b"// %tid.y", b"mov.u32 %r1, %tid.y;",
    b"call.uni known, (%r1);", b"@!%p1 bra DONE;", b".shared .b8 tile[4];", b"DONE: AGAIN:",
    b".param .b32 given;", b"mov.u64 %rd1, tile;", b"add.s64 %rd4, %rd2, 8;", b"cvta.shared.u64 %rd6, %rd6;",
    b"st.u32 [%rd4+4], %r1;", b"ld.shared.u64 %rd1, [tile+252];", b"more: .branchtargets DONE, NEXT;",
    b"mov.u32 %r1, %clusterid.x;", b"bar.warp.sync 0xff;", b".pragma \"used_bytes_mask 0xf\";",
]  # fmt: skip


@cache
def _kernel(lines: int) -> bytes:
    return one_kernel(lines).encode()


def an_edit(data: bytes, chance: random.Random, *, is_sound: bool) -> Edit:
    """Something that one may type in the body of the only kernel, now and then before it; what `is_sound`
    leaves no syntax error.
    """
    begin, end = data.index(b"{", data.index(b".entry")) + 1, data.rindex(b"}")
    if not is_sound and chance.random() < 0.2:
        begin = 0
    at = chance.randrange(begin, end)
    line = data.find(b"\n", at, end) + 1 or end
    after = data.find(b";", at, end) + 1 or end
    match chance.randrange(7 if is_sound else 9):
        case 0:
            return Edit(after, after, b" ")
        case 1:
            return Edit(line, line, chance.choice(_LINES[2 * is_sound :]) + b"\n")
        case 2:  # an immediate
            found = re.compile(rb"(?<=, )\d+(?=;)").search(data, at, end)
            return Edit(*found.span(), b"12") if found else Edit(line, line, b"\n")
        case 3:  # a register
            found = re.compile(rb"%[a-z]+\d+").search(data, at, end)
            other = re.compile(rb"%[a-z]+\d+").search(data, chance.randrange(begin, end), end)
            return Edit(*found.span(), other[0]) if found and other else Edit(line, line, b"\n")
        case 4:  # a line
            stop = data.find(b"\n", line, end) + 1 or end
            return Edit(line, stop, b"")
        case 5:
            return Edit(line, line, b"NEW_%d:\n" % chance.randrange(1000))
        case 6:
            return Edit(line, line, b"add.s32 %r1, %r1, 1;\n")
        case 7:
            return Edit(at, at, chance.choice(TOKENS))
        case _:
            return Edit(at, at + 1, b"")


def _check(text: bytes, chance: random.Random, edits: int, *, is_sound: bool) -> None:
    """Some edits one after the other; now and then several before anybody asks."""
    document = Document.parse(Source(text))
    linting = LintSession(Module(document), all_rules())
    module = linting.module
    for _ in range(edits):
        document = document.edited(an_edit(document.source.data, chance, is_sound=is_sound))
        if chance.random() < 0.2:
            module = Module(document, module)
        if chance.random() < 0.3:
            continue
        fresh = Document.parse(Source(document.source.data))
        assert items(document) == items(fresh)
        module = Module(document, module)
        linting = LintSession(module, all_rules(), linting)
        anew = LintSession(Module(fresh), all_rules())
        assert linting.diagnostics == anew.diagnostics
        for function, same in zip(module.functions, anew.module.functions, strict=True):
            known, wanted = analysis_results(function), analysis_results(same)
            assert [name for name in known if known[name] != wanted[name]] == []


@pytest.mark.parametrize("seed", seeds(5, 16))
def test_edited_kernel_is_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    lines = chance.choice([100, 200, 400])
    _check(_kernel(lines), chance, 8, is_sound=seed % 2 == 0)


@pytest.mark.parametrize("seed", seeds(6, 24))
def test_edited_calls_and_tables_are_as_read_anew(seed: int) -> None:
    _check(_CALLS, random.Random(seed), 20, is_sound=seed % 3 > 0)
