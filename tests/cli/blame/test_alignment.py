"""Templates of inline assembly against the PTX that compilers make from them."""

from __future__ import annotations

import pytest

from ptx_lsp.cli.blame.alignment import align
from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_named
from ptx_lsp.text import Source, Span


def only_block(text: str, language: str = "cuda") -> tuple[str, Block]:
    (block,) = HostDocument(Source.of(text), language_named(language)).blocks
    return text, block


HOST = (
    '__device__ void f(int x) {\n  int y;\n  asm("{\\n\\t"\n      ".reg .b32 %%t;\\n"\n'
    '      "add.s32 %%t, %1, %2;\\n\\t"\n      "mov.b32 %0, %%t;}" : "=r"(y) : "r"(x), "n"(4));\n}\n'
)
MADE = "\n\t{\n\t.reg .b32 %t;\nadd.s32 %t, %r17, 4;\n\tmov.b32 %r3, %t;}\n\t"


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("add.s32", "add.s32"), (".s32", ".s32"), ("%r17", "%1"), ("4", "%2"), ("%r3", "%0"),
        ("mov.b32 %r3", "mov.b32 %0"), ("%t, %r17", "%%t, %1"), (".reg", ".reg"),
    ],
)
def test_places_in_the_template(word: str, written: str) -> None:
    text, block = only_block(HOST)
    found = align(block, MADE.encode(), 100)
    assert found is not None
    start = MADE.index(word) + 100
    span = found.host_span(Span(start, start + len(word)))
    assert text[span.start : span.end] == written


@pytest.mark.parametrize(
    "made",
    [
        "", "\tret;\n", MADE.replace("add", "sub"), MADE.replace(", 4", ""), MADE + "ret;",
        MADE.replace("%t", "%u"),
    ],
)
def test_other_text_has_no_alignment(made: str) -> None:
    assert align(only_block(HOST)[1], made.encode(), 0) is None


def test_macros_match_anything() -> None:
    _, block = only_block('__device__ void f(int x) { asm("add" TYPE " %0, %0, 1;" : "+r"(x)); }')
    assert align(block, b"\tadd.u32 %r1, %r1, 1;\n", 0) is not None
    assert align(block, b"\tsub.u32 %r1, %r1, 1;\n", 0) is None


def test_a_template_of_unknown_parts_matches_nothing() -> None:
    _, block = only_block('__device__ void f(int x) { asm("" CODE : "+r"(x)); }')
    assert align(block, b"\tadd.u32 %r1, %r1, 1;\n", 0) is None


def test_matching_is_linear_in_hostile_text() -> None:
    template = "add.u32 %0, %0, " * 2000
    _, block = only_block(f'__device__ void f(int x) {{ asm("{template}1;" : "+r"(x)); }}')
    assert align(block, b"add.u32 %r1, %r1, " * 3500, 0) is None


def test_what_is_between_unknown_parts() -> None:
    """Each part is at its first place, and what is between them belongs to the macros."""
    host = '__device__ void f() { asm volatile(FIRST " bar; " SECOND " ret; " LAST ::); }'
    text, block = only_block(host)
    made = "mov.u32 %r1, %tid.x; bar; a; bar; b; ret; c; ret; d;"
    found = align(block, made.encode(), 0)
    assert found is not None

    def written(word: str, nth: int = 0) -> str:
        start = [at for at in range(len(made)) if made.startswith(word, at)][nth]
        return text[slice(*found.host_span(Span(start, start + len(word))))]

    assert [written(word) for word in ("mov", "bar", "b;", "ret", "c;")] == ["", "bar", "", "ret", ""]


@pytest.mark.parametrize("separator", ["; ", "%0%1%2%3 ", "."])
def test_unknown_parts_are_not_tried_in_all_combinations(separator: str) -> None:
    """It would take years otherwise."""
    parts = f' "{separator}" '.join(f"MACRO{number}" for number in range(8))
    _, block = only_block(f'__device__ void f() {{ asm volatile({parts} "zzz;" ::); }}')
    assert align(block, b"add.u32 %r1, %r2, %r3; " * 1000, 0) is None


def test_operands_side_by_side() -> None:
    operands = "".join(f"%{number}" for number in range(8))
    values = ", ".join('"r"(x)' for _ in range(8))
    _, block = only_block(f'__device__ void f(int x) {{ asm volatile("{operands} zzz;" :: {values}); }}')
    assert align(block, b"r" * 200 + b" ;", 0) is None
