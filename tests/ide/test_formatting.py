"""How texts are laid out, and that nothing but blanks changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ptx_lsp.ide.cursor.tokens import tokens
from ptx_lsp.ide.editing.formatting import Style, formatting, formatting_on_type
from ptx_lsp.model.module import Module
from ptx_lsp.text import Span
from tests.ide.cursor import at_cursor, edited
from tests.oracle import corpus
from tests.properties.test_damaged import DAMAGES
from tests.strength import seeds

FILES = [*corpus.files(), *corpus.external()]


def formatted(text: str, style: Style | None = None, span: Span | None = None) -> str:
    module = Module.parse(text)
    return edited(module, formatting(module, style, span))


def check_format(text: str, expected: str, style: Style | None = None) -> None:
    assert formatted(text, style) == expected
    assert formatted(expected, style) == expected


def words(text: str) -> list[str]:
    """The tokens and comments, without the blanks behind comments."""
    data = text.encode().decode("latin-1")
    return [data[one.start : one.end].rstrip() for one in tokens(data)]


def test_statements() -> None:
    check_format(
        ".version 8.5\n.target   sm_90\n.entry  k ( )\n{ add.s32 %r1,%r2 , 3 ;ret;\n\n\n\n@ %p  bra\tL; }",
        ".version 8.5\n.target sm_90\n.entry k()\n{\n    add.s32             %r1, %r2, 3;\n    ret;\n\n"
        "    @%p bra             L;\n}\n",
    )


def test_blocks_and_labels() -> None:
    check_format(
        ".entry k() { L: { .reg .b32 x; M: ret; } @p { ret; } }",
        ".entry k()\n{\nL:\n    {\n        .reg .b32           x;\n    M:\n        ret;\n    }\n"
        "    @p\n    {\n        ret;\n    }\n}\n".replace("@p\n    {", "@p {"),
    )


def test_comments() -> None:
    check_format(
        "//  a  \n.entry k() // head  \n{ /* b */\n// c\nret; // d\nadd.s32 %r1, /* e */ %r2, 3;\n// f\n}\n"
        "// g",
        "//  a\n.entry k()                                      // head\n"
        "{                                               /* b */\n    // c\n"
        "    ret;                                        // d\n"
        "    add.s32             %r1, /* e */ %r2, 3;\n    // f\n}\n// g\n",
    )


def test_comments_between_statements_of_a_line() -> None:
    check_format(
        ".entry k() { /* a */ L: /* b */ ret; /* c */ ret; /* d */ /* e */ ret; /* f\n g */ ret; }",
        ".entry k()\n{                                               /* a */\n"
        "L:                                              /* b */\n"
        "    ret;                                        /* c */\n"
        "    ret; /* d */                                /* e */\n"
        "    ret;                                        /* f\n g */\n    ret;\n}\n",
    )


def test_columns_are_characters() -> None:
    check_format(
        ".entry k() {\nret; /* \u00fc\u4e2d */ // b\n}",
        ".entry k()\n{\n    ret; /* \u00fc\u4e2d */" + " " * 31 + "// b\n}\n",
    )


def test_statements_of_several_lines() -> None:
    check_format(
        ".entry k(\n.param .b32 a,\n  .param .b32 b\n)\n.maxntid 32\n{\nmma.sync\n {%r1},\n{%r2};\n}",
        ".entry k(\n    .param .b32 a,\n    .param .b32 b\n)\n.maxntid 32\n{\n    mma.sync\n        {%r1},\n"
        "        {%r2};\n}\n",
    )


def test_tabs_and_columns() -> None:
    check_format(
        ".entry k() { add.s32 %r1, %r2, 3; }", ".entry k()\n{\n\tadd.s32     %r1, %r2, 3;\n}\n",
        Style(indent=8, use_tabs=True, operand_column=12),
    )


def test_lists_stay_behind_their_labels() -> None:
    check_format(".entry k() { T:  .branchtargets A,B; }", ".entry k()\n{\nT: .branchtargets A, B;\n}\n")


def test_lines_that_end_otherwise() -> None:
    check_format(".entry k()\r\n{ ret;\r\n} // x\r\n", ".entry k()\r\n{\r\n    ret;\r\n}"
                 "                                               // x\r\n")


def test_what_is_broken_stays() -> None:
    check_format(
        ".entry k()\r\n{\r\n    {\r\n        %r1, x\r\n    }\r\n}\r\n",
        ".entry k()\r\n{\r\n    {\r\n        %r1, x\r\n    }\r\n}\r\n",
    )
    check_format(
        ".entry k() {\n.reg .b32  x /**/; ld.b32 // d\n{ // e\n%r1, x}, [%r1];\n}",
        ".entry k()\n{\n    .reg .b32           x /**/; ld.b32          // d\n"
        "    {                                           // e\n        %r1, x\n    }, [%r1];\n}\n",
    )
    check_format(
        ".entry k() {\n  add.s32   %r1,;\n ret; }",
        ".entry k()\n{\n    add.s32   %r1,;\n    ret;\n}\n",
    )
    check_format(".section .debug {\n .b8   1 }\n", ".section .debug {\n .b8   1 }\n")


def test_a_part_of_the_lines() -> None:
    text = ".entry k()\n{\nadd.s32 %r1,%r2,3;\nsub.s32 %r1,%r2,3;\nret;\n}\n"
    start = text.index("sub")
    assert formatted(text, span=Span(start, start + 3)) == text.replace(
        "sub.s32 %r1,%r2,3;", "    sub.s32             %r1, %r2, 3;"
    )


@pytest.mark.parametrize("path", corpus.files()[:8], ids=lambda path: path.name)
def test_a_part_gets_the_edits_of_the_whole(path: Path) -> None:
    chance = random.Random(path.name)
    module = Module.parse(path.read_text())
    whole, source = formatting(module), module.document.source
    for _ in range(30):
        line = chance.randrange(source.line_count)
        last = min(line + chance.choice((0, 0, 3, 30)), source.line_count - 1)
        start, end = source.line_span(line).start, source.line_span(last).end
        if end == source.line_start(last) and last > line:
            continue  # a range that ends at the start of a line leaves that line out
        expected = [edit for edit in whole if start <= edit.end and edit.start < end]
        assert list(formatting(module, span=Span(start, end))) == expected


def test_a_part_includes_the_head_and_the_last_comment() -> None:
    text = ".entry a() { ret; }\n.entry  k ( )\n{\nret;\nret; // a\nret;\n}\n"
    head = text.index(".entry  k")
    assert ".entry k()\n{\nret;" in formatted(text, span=Span(head, head + 5))
    line = text.index("ret; // a")
    assert f"    ret;{' ' * 40}// a\nret;" in formatted(text, span=Span(line, line + 2))


def test_deep_blocks_are_not_indented_further_and_further() -> None:
    depth = 1_000
    found = formatted(".entry k() {" + "{" * depth + "ret;" + "}" * depth + "}")
    assert "\n" + " " * 400 + "ret;\n" in found
    assert len(found) < 2 * depth * 402 + 200


def test_while_typing() -> None:
    module, offset = at_cursor(".entry k()\n{\nadd.s32 %r1,%r2,3;<CURSOR>\nsub.s32 %r1,%r2,3;\n}\n")
    assert "\n    add.s32             %r1, %r2, 3;\nsub.s32 %r1,%r2,3;\n" in edited(
        module, formatting_on_type(module, offset)
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_keep_their_tokens(path: Path) -> None:
    check_properties(path.read_text())


@pytest.mark.parametrize("seed", seeds(8, 30))
def test_damaged_files_keep_their_tokens(seed: int) -> None:
    chance = random.Random(seed)
    small = [path for path in corpus.files() if path.stat().st_size < 20_000]
    lines = chance.choice(small).read_text().split("\n")
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(lines))
        lines[at] = chance.choice(DAMAGES)(chance, lines[at])
    check_properties("\n".join(lines))


INSERTED = ("/* c */", " /**/ ", "/* m\n l */", " /* \u00fc\u4e2d */", "// d\n", "\n", "\n\n\n", " \t", "  ")


@pytest.mark.parametrize("seed", seeds(6, 20))
def test_comments_and_blanks_anywhere(seed: int) -> None:
    chance = random.Random(seed)
    small = [path.read_text() for path in corpus.files() if path.stat().st_size < 4_000]
    for text in (DENSE, DENSE, DENSE, *chance.sample(small, 2)):
        places = [one.start for one in tokens(text)]
        for place in sorted(chance.choices(places, k=5), reverse=True):
            text = text[:place] + chance.choice(INSERTED) + text[place:]
        check_properties(text)


DENSE = """.version 8.5
.target sm_90
.visible .entry k(.param .u64 p, .param .u32 n) .maxntid 32
{ .reg .b32 %r<9>; .reg .pred %p<3>; // registers
L1: mov.u32 %r1, %tid.x; @!%p1 bra L1;
{ .reg .b32 x; ld.global.v2.u32 {%r1, x}, [%r1+4]; }
call.uni (%r1), ext, (%r2, %r3);
tab: .branchtargets L1, L2;
brx.idx %r1, tab; .pragma "nounroll"; .loc 1 2 3
L2: ret; } .global .u32 x[2] = {1, 2};
"""


def check_properties(text: str) -> None:
    once = formatted(text)
    assert words(once) == words(text)
    assert formatted(once) == once
    before, after = Module.parse(text).document, Module.parse(once).document
    assert [type(item.node) for item in before.items] == [type(item.node) for item in after.items]
    assert sum(len(item.problems) for item in before.items) == sum(len(item.problems) for item in after.items)
