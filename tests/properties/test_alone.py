"""Edits in one function of many, which is parsed alone, give what the text read anew gives."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.properties.offsets import items
from tests.properties.test_edits import TOKENS
from tests.strength import seeds

_FUNCTION = """\
.func f%d(.param .b32 a)
{
    .reg .b32 %%r<4>;  // a "," in it
    ld.param.b32 %%r1, [a];
    .pragma "nounroll";
    { add.s32 %%r2, %%r1, %d; /* here */ }
    call f%d, (%%r2);
    ret;
}
"""
_HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"
_PIECES = [*TOKENS, b'";', b'";"', b"*/ /*", b"// \"\n", b'"\n"', b'.pragma "', b"call f2, (%r1);", b"}\n{"]


def _text(functions: int) -> bytes:
    bodies = (_FUNCTION % (number, number, max(0, number - 1)) for number in range(functions))
    return (_HEADER + "".join(bodies)).encode()


@pytest.mark.parametrize("seed", seeds(10, 60))
def test_edited_functions_are_as_read_anew(seed: int) -> None:
    chance = random.Random(seed)
    document = Document.parse(Source(_text(8)))
    linting = LintSession(Module(document))
    for _ in range(25):
        data = document.source.data
        at = chance.randrange(len(data))
        end = min(len(data), at + chance.choice([0, 0, 1, 1, 3, 40]))
        document = document.edited(Edit(at, end, chance.choice([b"", *_PIECES])))
        if chance.random() < 0.3:
            continue
        fresh = Document.parse(Source(document.source.data))
        assert items(document) == items(fresh)
        linting = LintSession(Module(document, linting.module), previous=linting)
        assert linting.diagnostics == LintSession(Module(fresh)).diagnostics


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_statements_edited_without_a_tree_are_as_read_anew(seed: int) -> None:
    """Mostly edits between the functions, or across the ends of some."""
    chance = random.Random(seed)
    text = _text(40)
    without = 0
    for _ in range(5):
        document = Document.read(Source(text))
        assert not document.has_tree
        linting = LintSession(Module(document))
        for _ in range(3):
            item = chance.choice(document.items) if document.items else None
            data = document.source.data
            at = chance.choice([item.start, item.end]) + chance.choice([0, 0, 0, -1, 1, -9, 9]) if item else 0
            at = min(max(0, at), len(data))
            end = min(len(data), at + chance.choice([0, 0, 1, 1, 3, 40, 250]))
            new = chance.choice([b"", b".global .u32 x;", b".visible .func g() { ret; }\n", *_PIECES])
            document = document.edited(Edit(at, end, new))
            without += not document.has_tree
            fresh = Document.parse(Source(document.source.data))
            assert items(document) == items(fresh)
            linting = LintSession(Module(document, linting.module), previous=linting)
            assert linting.diagnostics == LintSession(Module(fresh)).diagnostics
    assert without > 0


@pytest.mark.parametrize(
    "typed",
    [b'"', b'.pragma "', b"/*", b"*/", b"}", b"{", b"#", b"//", b'"\n;', b"{ {", b".func g() {", b'; ";'],
)
@pytest.mark.parametrize("after", [b".pragma", b"nounroll", b";", b"{ add", b"/* here", b"ret"])
def test_what_may_not_end_with_its_function_is_read_with_the_others(typed: bytes, after: bytes) -> None:
    text = _text(6)
    at = text.index(after, text.index(b".func f3"))
    document = Document.parse(Source(text)).edited(Edit(at, at, typed))
    assert items(document) == items(Document.parse(Source(document.source.data)))
    document = document.edited(Edit(at, at + len(typed), b""))
    assert items(document) == items(Document.parse(Source(text)))


@pytest.mark.parametrize("typed", [b'// ";\n', b'.pragma ";";', b'// ",', b'"', b"ret;", b".reg .b32 %q;"])
@pytest.mark.parametrize("opened", [b'.pragma "open\n', b'.file 1 "open\n', b'.global .b8 s[4] = "open\n;\n'])
def test_a_string_left_open_before_may_end_anywhere(typed: bytes, opened: bytes) -> None:
    text = _text(6).replace(b'// a "," in it', b"").replace(b'.pragma "nounroll";', b"")
    at = text.index(b".func f1")
    text = text[:at] + opened + text[at:]
    at = text.index(b"ret", text.index(b".func f3"))
    document = Document.parse(Source(text)).edited(Edit(at, at, typed))
    assert items(document) == items(Document.parse(Source(document.source.data)))
    document = document.edited(Edit(at, at + len(typed), b""))
    assert items(document) == items(Document.parse(Source(text)))


def test_no_more_than_its_block_of_statements_is_made_anew() -> None:
    document = Document.parse(Source(_text(200)))
    before = list(document.items)
    at = document.source.data.index(b"add.s32", before[100].start)
    edited = document.edited(Edit(at, at, b"mov.b32 %r1, 7;"))
    assert sum(new is not old for new, old in zip(edited.items[:100], before, strict=False)) < 40
    assert [new.node is old.node for new, old in zip(edited.items, before, strict=True)].count(False) == 1
    assert list(edited.items.changed(document.items)) == [100]
    assert [number for number, item in enumerate(edited.items) if item.tree is not None] == [100]
    behind = zip(edited.items[101:], before[101:], strict=True)
    assert {new.start - old.start for new, old in behind} == {len(b"mov.b32 %r1, 7;")}
