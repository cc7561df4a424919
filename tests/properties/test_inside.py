"""Edits inside one kernel give what the text read anew gives: nodes, findings and all facts."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from benchmarks.analyses import one_kernel
from ptx_lsp.lint.engine import Linting
from ptx_lsp.lint.rule import all_rules
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.properties.offsets import items
from tests.properties.test_edits import TOKENS
from tests.properties.told import told

_LINES = [
    b"{", b"}", b"add.s32 %r1, %r2, %r3;", b"mov.u32 %r1, %tid.x;", b"bar.sync 0;",
    b"@%p1 bra HERE;", b"HERE:", b".reg .b32 %new;", b"ret;", b"// a comment",
    b"/* two\nlines */", b".loc 1 2 3", b"ld.global.u32 %r1, [%rd1];",
    b'.pragma "nounroll";', b"mov.b32 %r1, unknown_name;",
]  # fmt: skip


@cache
def _kernel(lines: int) -> bytes:
    return one_kernel(lines).encode()


def an_edit(data: bytes, chance: random.Random, *, is_sound: bool) -> Edit:
    """Something that one may type in the body of the only kernel; what `is_sound` leaves no syntax error."""
    begin, end = data.index(b"{") + 1, data.rindex(b"}")
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


@pytest.mark.parametrize("seed", range(16))
def test_edited_kernel_is_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    document = Document.parse(Source(_kernel(chance.choice([100, 200, 400]))))
    linting = Linting(Module(document), all_rules())
    for _ in range(8):
        document = document.edited(an_edit(document.source.data, chance, is_sound=seed % 2 == 0))
        if chance.random() < 0.3:
            continue  # several edits before anybody asks
        fresh = Document.parse(Source(document.source.data))
        assert items(document) == items(fresh)
        linting = Linting(Module(document, linting.module), all_rules(), linting)
        anew = Linting(Module(fresh), all_rules())
        assert linting.diagnostics == anew.diagnostics
        for function, same in zip(linting.module.functions, anew.module.functions, strict=True):
            known, wanted = told(function), told(same)
            assert [name for name in known if known[name] != wanted[name]] == []
