"""What the words of a text are: each line of the text is followed by its tokens."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.highlighting.encoded_tokens import ROW, flat, token_pieces
from ptx_lsp.ide.highlighting.semantic_tokens import TOKEN_MODIFIERS, TOKEN_TYPES, semantic_tokens
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import ColumnUnit, Edit, Source, Span
from tests.ide.cursor import completed
from tests.oracle import corpus


def check_tokens(text: str, *expected: str) -> None:
    """Of a text, each as `word type modifiers`."""
    module = Module.parse(completed(text))
    source = module.document.source
    start = source.text.index(text.encode().decode("latin-1"))
    found = [
        " ".join([source.decoded(one.start, one.end).split()[0], one.type, *one.modifiers])
        for one in semantic_tokens(module, Span(start, start + len(text.encode())))
    ]
    assert found == list(expected)


def test_an_instruction() -> None:
    check_tokens(
        "@!%p1 mad.lo.s32 %r1, %r2, 0x3, %tid.x; // why",
        "@ operator", "%p1 register", "mad opcode", ".lo modifier", ".s32 type", "%r1 register",
        "%r2 register", "0x3 number", "%tid special register readonly", ".x modifier", "// comment",
    )


def test_declarations_and_labels() -> None:
    check_tokens(
        "L: .shared .align 4 .b32 s[4]; bra L; ld.shared.b32 %r1, [s];",
        "L label declaration", ".shared directive", ".align directive", "4 number", ".b32 type",
        "s variable declaration", "4 number", "bra opcode", "L label", "ld opcode", ".shared modifier",
        ".b32 type", "%r1 register", "s variable",
    )


def test_functions() -> None:
    check_tokens(
        ".func f(.param .b32 a) { ret; }\n.entry k() { call f, (1); x; }",
        ".func directive", "f function declaration definition", ".param directive", ".b32 type",
        "a parameter declaration", "ret opcode", ".entry directive", "k kernel declaration definition",
        "call opcode", "f function", "1 number", "x opcode",
    )


def test_what_is_not_declared() -> None:
    check_tokens("mov.b32 nowhere, 1;", "mov opcode", ".b32 type", "nowhere variable undeclared", "1 number")


def test_the_module() -> None:
    check_tokens(
        "/* a\n b */ .const .b32 c[2] = {1, 2}; .global .u64 p = c; .section .debug { .b8 1 }\n"
        ".entry k() { ret; }",
        "/* comment", ".const directive", ".b32 type", "c variable declaration readonly",
        "2 number", "1 number", "2 number", ".global directive", ".u64 type", "p variable declaration",
        "c variable readonly", ".section directive", ".debug modifier", ".b8 type", "1 number",
        ".entry directive", "k kernel declaration definition", "ret opcode",
    )


def decoded(source: Source, rows: list[int], unit: ColumnUnit) -> list[tuple[str, str, int]]:
    """The rows as text, type and modifiers."""
    lines = source.data.decode().splitlines()
    line = column = 0
    found: list[tuple[str, str, int]] = []
    for at in range(0, len(rows), ROW):
        step, start, length, type, bits = rows[at : at + ROW]
        line, column = line + step, start + (0 if step else column)
        text = lines[line]
        if unit == "utf-8":
            word = text.encode()[column : column + length].decode()
        elif unit == "utf-16":
            word = text.encode("utf-16-le")[2 * column : 2 * (column + length)].decode("utf-16-le")
        else:
            word = text[column : column + length]
        found.append((word, TOKEN_TYPES[type], bits))
    return found


UNITS: tuple[ColumnUnit, ...] = ("utf-8", "utf-16", "utf-32")


@pytest.mark.parametrize("unit", UNITS)
def test_rows_are_the_same_tokens(unit: ColumnUnit) -> None:
    text = completed("/* é\n \U0001d6fc */ add.s32 %r1, %r2, 3; // \U0001d6fc\n  ret; /* x */ .reg .b32 x;")
    module = Module.parse(text)
    source = module.document.source
    expected = [
        (part, one.type, sum(1 << TOKEN_MODIFIERS.index(name) for name in one.modifiers))
        for one in semantic_tokens(module)
        for part in source.decoded(one.start, one.end).split("\n")
    ]
    assert decoded(source, flat(token_pieces(module, unit)), unit) == expected


def test_rows_after_edits_are_those_of_a_fresh_file() -> None:
    text = ".version 8.5\n.target sm_90\n" + "".join(
        f".entry k{n}() {{ .reg .b32 %r<4>;\n add.s32 %r1, %r2, {n}; }} // é\n" for n in range(4)
    )
    document = Document.parse(Source.of(text))
    module = Module(document)
    flat(token_pieces(module, "utf-16"))
    for at, new in ((30, b"\n/* a\n b */"), (70, b"%r3"), (0, b"// x\n"), (len(text), b" .func f();")):
        document = document.edited(Edit(at, at, new))
        module = Module(document, module)
        fresh = Module(Document.parse(document.source))
        assert flat(token_pieces(module, "utf-16")) == flat(token_pieces(fresh, "utf-16"))


def test_rows_of_a_long_function_after_edits() -> None:
    """Its instructions are kept one by one."""
    lines = "".join(f"add.s32 %r1, x, {n}; // é\n@%p bra L{n}; L{n}:\n" for n in range(600))
    text = f".version 8.5\n.target sm_90\n/* a */ .entry k() {{ .reg .b32 %r<4>, x;\n{lines}ret; }} // end\n"
    document = Document.parse(Source.of(text))
    module = Module(document)
    declared = text.index(", x;")
    for at, new in ((300, b" "), (5000, b"\n/* a\n b */"), (declared, b", y"), (40, b"// \xc3\xa9\n")):
        for unit in UNITS:
            rows = flat(token_pieces(module, unit))
            assert rows == flat(token_pieces(Module(Document.parse(document.source)), unit))
            tokens = decoded(document.source, rows, unit)
            assert [word for word, type, _ in tokens if type == "opcode"].count("add") == 600
        document = document.edited(Edit(at, at, new))
        module = Module(document, module)


def test_a_part_is_part_of_the_whole() -> None:
    module = Module.parse(corpus.files()[0].read_text())
    whole = list(semantic_tokens(module))
    size = len(module.document.source.data)
    for start in range(0, size, max(1, size // 40)):
        span = Span(start, start + 500)
        part = list(semantic_tokens(module, span))
        assert part == [one for one in whole if one in set(part)]
        touched = [one for one in whole if one.end > span.start and one.start < span.end]
        assert [one for one in part if one in touched] == touched
