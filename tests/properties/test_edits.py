"""Any text is parsed and linted without raising, and after any edits as if it had been read anew."""

from __future__ import annotations

from functools import cache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tree_sitter import Node, Tree

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.oracle import corpus
from tests.properties.offsets import items
from tests.strength import number

HEADER = b".version 9.5\n.target sm_90\n.address_size 64\n"
TOKENS = [
    b"{", b"}", b"(", b")", b"[", b"]", b";", b",", b":", b"@", b"!", b"=", b"|", b"<", b">",
    b"+", b"-", b"*", b"/", b"%", b"&", b"^", b"~", b"?", b"\\", b"\n", b" ", b"\x00", b"\r",
    b"\xc3\xa9", b'"', b"/*", b"*/", b"//", b"#x\n", b"@@x", b"0x", b"1.5", b"12ab", b"%r1",
    b"%r<4>", b"foo", b".u32", b".reg .b32 %x;", b".reg", b".param", b".entry k() {",
    b".func f();", b"L0: ", b"bra L0;", b"ret;", b"call f;", b".loc 1 1 1", b".version 8.0\n",
    b".target sm_80\n", b".section .a {", b".struct s {", b".align", b".attribute(",
    b'.pragma "x";', b".file", b".callprototype _ ();", b".branchtargets", b".alias a, b;",
    b".b8 1", b"==", b"&&", b"<<", b"mad.lo.s32 %r1, %r1, 2, 3;", b".extern",
    b".visible .func g() { ret; }",
]  # fmt: skip


@cache
def _texts() -> list[bytes]:
    return [path.read_bytes() for path in corpus.files()]


@st.composite
def _pieces(draw: st.DrawFn) -> bytes:
    """A header and some consecutive bytes of a real file, beginning at a line."""
    text = draw(st.sampled_from(_texts()))
    start = text.rfind(b"\n", 0, draw(st.integers(0, len(text)))) + 1
    length = draw(st.integers(0, 2500))
    return draw(st.sampled_from([HEADER, b""])) + text[start : start + length]


def _edits(size: int) -> st.SearchStrategy[tuple[str, int, int, bytes]]:
    """What to do, where, over how many bytes (or lines), and what to insert."""
    return st.tuples(
        st.sampled_from(["insert", "delete", "double", "replace", "delete line", "double line"]),
        st.integers(0, size),
        st.sampled_from([1, 1, 2, 5, 30, 200]),
        st.one_of(st.sampled_from(TOKENS), st.binary(max_size=3)),
    )


def _edit(data: bytes, what: str, at: int, length: int, new: bytes) -> Edit:
    at = min(at, len(data))
    stop = min(at + length, len(data))
    if what.endswith("line"):
        at = data.rfind(b"\n", 0, at) + 1
        stop = data.find(b"\n", at) + 1 or len(data)
    if what.startswith("insert"):
        return Edit(at, at, new)
    if what.startswith("delete"):
        return Edit(at, stop, b"")
    if what.startswith("double"):
        return Edit(stop, stop, data[at:stop])
    return Edit(at, stop, new)


_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
_MANY = settings(max_examples=number(60, 250), deadline=None, suppress_health_check=_SLOW)


@_MANY
@given(_pieces(), st.lists(_edits(2600), min_size=1, max_size=4))
def test_edited_is_as_read_anew(text: bytes, edits: list[tuple[str, int, int, bytes]]) -> None:
    document = Document.parse(Source(text))
    linting = LintSession(Module(document))
    for what, at, length, new in edits:
        document = document.edited(_edit(document.source.data, what, at, length, new))
        module = Module(document, linting.module)
        linting = LintSession(module, previous=linting)
    fresh = Document.parse(Source(document.source.data))
    assert _shape(document.tree) == _shape(fresh.tree)
    assert items(document) == items(fresh)
    assert linting.diagnostics == LintSession(Module(fresh)).diagnostics


@_MANY
@given(st.binary(max_size=400))
def test_any_bytes_are_taken(data: bytes) -> None:
    document = Document.parse(Source(data))
    found = LintSession(Module(document)).diagnostics
    assert found
    assert all(0 <= d.span.start <= d.span.end <= len(data) for d in found)


def _shape(tree: Tree) -> list[tuple[str, int, int]]:
    """Every node with its bytes, in order; no node is one of tree-sitter's own errors."""
    found: list[tuple[str, int, int]] = []
    pending: list[Node] = [tree.root_node]
    while pending:
        node = pending.pop()
        assert node.type != "ERROR"
        assert not node.is_missing
        found.append((node.type, node.start_byte, node.end_byte))
        pending.extend(node.children)
    return found
