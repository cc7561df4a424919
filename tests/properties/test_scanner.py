"""What is read without a tree has the nodes that its tree gives, in real files and after random changes."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from time import process_time

import pytest
from tree_sitter import Node

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax._scanner import Scanner
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.lower import lower
from ptx_lsp.syntax.parsing import parse
from ptx_lsp.syntax.reading import read_items
from ptx_lsp.text import Source
from tests.oracle import corpus
from tests.properties.test_edits import TOKENS
from tests.strength import seeds

_FUNCTION = b"""
.visible .func (.param .b32 r) f(.param .b64 .ptr .global .align 4 a, .param .align 8 .b8 b[16])
.maxntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .v4 .f32 v, w;
    .shared .align 16 .b8 s[1024];
    // a comment
    .loc 1 2 3, function_name $L+4, inlined_at 1 2 3
    @!%p1 ld.global.v2.u32 {%r1, %r2}, [ %rd1 + -4 ];
    setp.eq.or.f64 %p1|%p2, 0d0000000000000000, -1.5, !%p0;
    .pragma "nounroll";
L1: { mov.u32 %r1, %tid.x; /* here */ }
    call (r), f, (%r1, -0x1F, 2.5);
    call.uni
        f,
        (
        a
        );
    tex.2d.v4.f32.s32 {%f1, %f2, _, 3}, [t, {%r1, 08}];
    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1}, {%r2}, {%f1}, 1, 2, 3, x.y;
    bra L1;
}
"""
_TOKENS = [
    *TOKENS, b"\r\n", b"\n.func f();\n", b"\n.noreturn\n", b", inlined_at 1 2 3", b"WARP_SZ:",
    b"\nmembar.gl;", b"call", b"_", b"\f", b"\v", b"\x1a", b"\0", b"::", b" ", b'\n.file 1 "x"\n',
    b"\n.extern ", b"\n.foo 1 ", b"08", b"1e5", _FUNCTION,
]  # fmt: skip


def sample_texts() -> list[bytes]:
    files = [path.read_bytes() for path in corpus.files()]
    return [_FUNCTION * 2, *(text for text in files if len(text) < 20_000)]


def changed(chance: random.Random, texts: list[bytes]) -> bytes:
    text = chance.choice(texts)
    start = text.rfind(b"\n", 0, chance.randrange(max(1, len(text) - 3000))) + 1
    text = text[start : start + 3000]
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        at = chance.randrange(len(text) + 1)
        end = at + chance.choice([0, 0, 0, 1, 1, 4, 40])
        text = text[:at] + chance.choice([b"", *_TOKENS]) + text[end:]
    return text


def _statements(node: Node) -> Iterator[Node]:
    for child in node.children:
        inner = child.children[-1].type if child.children else ""
        if child.type in ("function", "block") or inner == "block":
            yield from _statements(child)
        else:
            yield child


def _check_statements(data: bytes) -> int:
    """The number of statements that were read."""
    text = data.decode("latin-1")
    count = 0
    for node in _statements(parse(data).root_node):
        scanner = Scanner(text, node.start_byte)
        found = scanner.statement(node.start_byte)
        if found is None or node.type not in ("instruction", "label", "location", "declaration", "pragma"):
            continue
        [lowered] = lower(node, text)
        if isinstance(found, nodes.Location) and scanner.end < node.end_byte:
            continue  # its attributes are irregular; `Lowering` asks whether the ends agree
        assert lowered.problems == (), node.text
        assert nodes.is_same(found, lowered.node), node.text
        count += 1
    return count


def _check_functions(data: bytes) -> int:
    """The number of statements, if the text was read."""
    source = Source(data)
    items = read_items(source)
    if items is None:
        return 0
    expected = list(Document.parse(source).items)
    assert [(one.start, one.end) for one in items] == [(one.start, one.end) for one in expected]
    for one, other in zip(items, expected, strict=True):
        assert other.problems == one.problems == ()
        assert other.alone
        assert nodes.is_same(one.node, other.node)
    return len(items)


def test_files_are_read_as_their_trees_are() -> None:
    texts = [path.read_bytes() for path in corpus.files()]
    statements = sum(map(_check_statements, texts))
    assert statements > 0.9 * sum(text.count(b";") for text in texts)
    assert sum(_check_functions(text) > 0 for text in texts) > 0.6 * len(texts)


@pytest.mark.parametrize("seed", seeds(10, 40))
def test_changed_files_are_read_as_their_trees_are(seed: int) -> None:
    chance = random.Random(seed)
    texts = sample_texts()
    for _ in range(20):
        text = changed(chance, texts)
        _check_statements(text)
        _check_functions(text)


def test_all_of_a_regular_function_is_read() -> None:
    regular = _FUNCTION.replace(b"08", b"8").replace(b", x.y", b"")
    assert _check_functions(regular) == 1
    assert _check_statements(regular) == 14


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2 // here\n, 1;", "add.s32 %r1, %r2, 1+2;", "ld.u32 %r1, [%r2-4];",
        "ld.u32 %r1, [_];", "add.s32 %r1, %r2", "add.s32 %r1,, %r2;", "add.s32 %r1, %r2,\n membar.gl;",
        "add.s32 %r1, 08;", "mov.u32 %, 1;", "call f, (a.x);", "ld.u32 %r1, [a].unified;",
        "ld.const[2].u32 %r1, [a];", ".reg .b32 %r<0x8>;", ".loc 1 2 3, inlined_at 1 2 3", "mov.u32 {}, {};",
        "vote.b32 %r1, !3;", "WARP_SZ: ret;", "a::b: ret;", "#x\nret;",
    ],
)  # fmt: skip
def test_irregular_statements_are_left_to_the_tree(text: str) -> None:
    assert Scanner(text, 0).statement(0) is None


@pytest.mark.parametrize(
    "kind", [b".funcs() {}", b".entryk() {}", b".func::f() {}", b".func_ f() {}", b".entry.f {}"]
)
def test_directives_that_resemble_those_of_functions_are_left_to_the_tree(kind: bytes) -> None:
    text = b".func g() {}\n.visible " + kind + b"\n" + kind
    assert read_items(Source(text)) is None
    assert _check_functions(text) == 0


def test_a_function_behind_an_irregular_one_is_read() -> None:
    text = ".entry a {\n add 1+1;\n .func f;\n}\n/*\n.entry b {\n*/ } .entry c {\n\t.entry d { ret; }"
    expected = [text.index(".func"), text.index(".entry d")]
    assert [start for start, _, _ in Scanner(text).functions()] == expected


@pytest.mark.parametrize(
    "text",
    ["a:" * 200_000, ".entry a { /*\n" * 5_000 + "*/" + "ret;" * 50_000 + "!", ".entry a {\n/*\n" * 50_000],
    ids=["labels", "functions-in-a-comment", "unclosed-comments"],
)
def test_nothing_is_passed_again_for_each_statement(text: str) -> None:
    """Twenty seconds and more if it were."""
    scanner = Scanner(text)
    begin = process_time()
    for at in range(0, len(text), 2):
        scanner.statement(at)
        if text[0] == ".":
            break
    assert scanner.functions() == []
    assert process_time() - begin < 5


def test_the_text_is_not_copied_for_each_statement() -> None:
    """Twenty seconds if it were, as each is lowered alone."""
    data = b"// " + b"\xe9" * 10_000_000 + b"\n" + b".entry e { ret; }\n" * 10_000
    text = data.decode("latin-1")
    root = parse(data).root_node
    begin = process_time()
    assert sum(len(list(lower(node, text))) for node in root.children[1:]) == 10_000
    assert process_time() - begin < 5


def test_a_text_beyond_ascii_is_stored_once() -> None:
    text = "// \xe9\nret;" + " " * 10_000
    size = sys.getsizeof(text)
    assert Scanner(text).statement(0) is not None
    assert sys.getsizeof(text) == size


def test_arguments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(TypeError):
        object.__new__(Scanner)
    for base in (-sys.maxsize, sys.maxsize):
        with pytest.raises(ValueError, match="too far"):
            Scanner("ret;", base)
    with pytest.raises(ValueError, match="negative"):
        Scanner("ret;").statement(-1)
    with pytest.raises(UnicodeEncodeError):
        Scanner("\u0100")
    assert Scanner("ret;").statement(sys.maxsize) is None


def test_offsets_count_from_the_base_after_functions_were_read() -> None:
    scanner = Scanner(".func f;\n.func g;\nret;", 3)
    assert len(scanner.functions()) == 2
    found = scanner.statement(18)
    assert found is not None
    assert (found.start, found.end, scanner.end) == (15, 19, 22)
    before = Scanner("ret;", -3).statement(0)  # the base of a function of which a part is read again
    assert before is not None
    assert (before.start, before.end) == (3, 7)


def test_a_slot_that_the_scanner_does_not_know_is_an_error() -> None:
    """Else it would be empty in nodes that are read."""
    code = (
        "from ptx_lsp.syntax import nodes\n"
        "class Name(nodes.Node): __slots__ = ('text', 'more')\n"
        "nodes.Name = Name\n"
        "import ptx_lsp.syntax._scanner\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: a class has another slot" in run.stderr
