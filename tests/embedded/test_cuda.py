"""`asm` in CUDA and C++: what is found, its text, and its operands."""

from __future__ import annotations

import pytest

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_named
from ptx_lsp.text import Edit, Source, Span


def document(text: str, language: str = "cuda") -> HostDocument:
    return HostDocument(Source.of(text), language_named(language))


def blocks(text: str) -> tuple[Block, ...]:
    return document(text).blocks


def only(statement: str) -> Block:
    """The block of a statement in a function."""
    (block,) = blocks(f"__device__ void f() {{\n  {statement}\n}}\n")
    return block


def text(statement: str) -> str:
    return only(statement).text.data.decode()


@pytest.mark.parametrize(
    ("written", "ptx"),
    [
        (r'asm("a;\n\t" "b;" ::);', "a;\n\tb;"),
        (r'asm("\x61\141\u0061\"\\" ::);', 'aaa"\\'),
        ('asm(R"(a;\n\\n)" ::);', "a;\n\\n"),
        ('asm(R"x(a)" b)x" ::);', 'a)" b'),
        (r'asm("mov.u32 %%r, %0;" :: "r"(x));', "mov.u32 %r, %0;"),
        (r'asm("L%=: %{ %| %}" :: "r"(x));', "L0: { | }"),
        (r'asm("mov.u32 %%r, %tid.x;");', "mov.u32 %%r, %tid.x;"),
        (r'asm("mov.u32 %0, %[in];" : "=r"(y) : [in] "r"(x));', "mov.u32 %0, %1;"),
        (r'asm("mov.u32 %0, %1;" : "=r"(y) : "n"(0x10u));', "mov.u32 %0, 0x10;"),
        (r'asm("a" /* "b" */ "c" // "d"' + '\n "e" ::);', "ace"),
        ('asm("a\\\nb" ::);', "ab"),
    ],
)
def test_text(written: str, ptx: str) -> None:
    assert text(written) == ptx


def test_macros() -> None:
    found = blocks(
        '#define TYPE ".u32"\n#define TWO(a) asm("mov" TYPE " %0, " #a ";" :: "r"(x))\n'
        'void f() { asm("mov" NAME(1, ")") " %0;" BODY "ret;" :: "r"(x)); }\n'
    )
    assert [one.text.data for one in found] == [b"mov.u32 %0, _hole0;", b"mov_hole0 %0;ret;"]
    assert [one.text.holes for one in found] == [[Span(12, 18)], [Span(3, 9), Span(13, 13)]]


def test_pasted_constants() -> None:
    block = only('asm("mma.%1.m16n8k%2 %0, %2;" : "=r"(x) : "C"(text), "n"(K));')
    assert block.text.data == b"mma._hole_1.m16n8k_hole_2 %0, %2;"


def test_operands() -> None:
    outputs, inputs = '"=&r"(a), "+l"(b[i](1))', '"f"((float)c) "h"(d), "0"(e)'
    block = only(f'asm volatile("" : {outputs} : {inputs} : "memory", "cc");')
    assert [(one.name, one.type, one.access, one.expression) for one in block.operands] == [
        ("%0", ".b32", "write", "a"),
        ("%1", ".b64", "both", "b[i](1)"),
        ("%2", ".f32", "read", "(float)c"),
        ("%3", ".b16", "read", "d"),
        ("%4", ".b32", "read", "e"),
    ]
    assert block.operands[0].early_clobber
    assert block.operands[4].tied_to == "%0"
    assert [one.name for one in block.clobbers] == ["memory", "cc"]
    assert block.is_volatile


@pytest.mark.parametrize(
    "written",
    [
        'int g() asm("h");',
        '// asm("a");',
        '/* asm("a"); */',
        'g("asm(\\"a\\")");',
        "asm(x);",
        "int asm_ = 1;",
        "asm volatile x;",
    ],
)
def test_not_a_block(written: str) -> None:
    assert blocks(f"void f() {{ {written} }}") == ()


@pytest.mark.parametrize(
    "broken", ['asm("a;" : "=r"(x', 'asm("a;', 'asm("a;" : : : :', "asm(", 'asm("a" : [x']
)
def test_unfinished(broken: str) -> None:
    for end in ("", "\n}\n", ";\n}\nvoid g() { h(); }\n"):
        assert len(blocks(f"void f() {{\n{broken}{end}")) <= 1


def test_every_byte_has_its_place() -> None:
    written = 'asm("{\\n\\t" "mov.u32 %%r, %0;\\n" TYPE R"(x\n)" :: "r"(x));'
    host = written.encode()
    block = only(written)
    for offset in range(len(block.text.data)):
        place = block.text.host_span(Span(offset, offset + 1))
        assert block.text.offset_at(place.start) is not None
        if place.end - place.start == 1:
            assert host[place.start] == block.text.data[offset]
    assert host[block.keyword.start : block.keyword.end] == b"asm"
    assert host[block.template.start : block.template.end].startswith(b'"{')


def test_an_edit_elsewhere_keeps_a_block() -> None:
    before = 'void f() {\n  x();\n  asm("a;" :: "r"(x));\n}\n'
    source = Source.of(before)
    document = HostDocument(source, language_named("cuda"))
    for edit in (Edit(0, 0, b"// \n"), Edit(13, 17, b""), Edit(40, 40, b"\n\n")):
        after = source.edited(edit)
        edited, fresh = document.edited(edit, after), HostDocument(after, language_named("cuda"))
        assert [one._asdict() | {"text": one.text.data} for one in edited.blocks] == [
            one._asdict() | {"text": one.text.data} for one in fresh.blocks
        ]
        assert edited.blocks[0].text is document.blocks[0].text  # it was not read again
    commented = Edit(source.text.index("asm"), source.text.index("asm"), b"// ")
    assert document.edited(commented, source.edited(commented)).blocks == ()


def test_a_statement_without_an_end_leaves_the_next_one() -> None:
    for unclosed in ("asm(", "asm volatile(X", "asm(X(", "__asm__((", "asm(#"):
        (block,) = blocks(f'{unclosed}\nasm("a;" ::);')
        assert block.text.data == b"a;"
    first, second = blocks('asm("b;\nasm("a;" ::);')
    assert (first.text.data, second.text.data) == (b"b;", b"a;")


@pytest.mark.parametrize("gap", [" ", "\n", "/* */", "// a\n"])
def test_long_statements(gap: str) -> None:
    """Longer than what is read at first, wherever that ends."""
    for length in range(16_360, 16_400, len(gap)):
        block = only('asm("a;"' + gap * (length // len(gap)) + ' "b;" : "=r"(x));')
        assert (block.text.data, len(block.operands)) == (b"a;b;", 1)


def test_many_macros() -> None:
    """A macro is looked up, not searched for."""
    names = [f"M{number}" for number in range(5_000)]
    defined = "".join(f'#define {name} "{name};"\n' for name in names)
    (block,) = blocks(f"{defined}asm({' '.join(names)} ::);")
    assert block.text.data == b"".join(f"{name};".encode() for name in names)


@pytest.mark.parametrize(("operands", "written"), [('::"r"(x)', "%%p"), ('::: "memory"', "%p"), ("", "%p")])
def test_percent_is_doubled_beside_operands(operands: str, written: str) -> None:
    """As nvcc wants it; without operands it keeps the template, colons or not."""
    assert only(f'asm("a;" {operands});').text.encode_at(0)("%p") == written


def test_what_is_inserted_behind_a_statement_without_an_end_belongs_to_it() -> None:
    for text in ('asm("a;"  \nasm("b;");', 'asm("a;"  \n'):
        before = document(text)
        edit = Edit(10, 10, b'"c;"')
        after = before.edited(edit, before.source.edited(edit))
        assert after.blocks[0].text.data == b"a;c;"
