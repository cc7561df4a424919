"""A line break is legal PTX wherever a space is: it changes no statement, and nothing is missed before it."""

from __future__ import annotations

import random
import re
from typing import cast

import pytest

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle import corpus

TEXTS = [text for path in corpus.files() if len(text := path.read_text()) < 20_000]
BY_HAND = """\
.version 8.5
.target sm_90
.address_size 64
.visible .func (.param .b32 r) foo (.param .b32 a)
{ ret; }
.visible .entry bar (.param .u64 .ptr .global .align 16 a, .param .u64 .ptr .shared b)
{
	.reg .b64 %rd<2>;
	.param .b32 r;
	.param .b32 b;
	p: .callprototype (.param .b32 r) _ (.param .b32 a) ;
	call (r), foo , (b) ;
	call (r), %rd0, (b), p ;
	ret ;
}
"""
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|@!?|[%$\w]+(?:(?:\.|::)[\w$:]+)*|(?:(?:\.|::)[\w$:]+)+|\s+|.',
    re.DOTALL,
)


@pytest.mark.parametrize("number", range(len(TEXTS) + 1))
def test_line_breaks(number: int) -> None:
    text = [*TEXTS, BY_HAND][number]
    chance = random.Random(number)
    for share in (0.2, 1.0):
        lines = broken(text, chance, share)
        assert told(lines) == told(text)
        assert told(lines.replace("\n", "\r\n")) == told(text)


def broken(text: str, chance: random.Random, share: float) -> str:
    """The text with so large a part of its spaces as line breaks, and more around punctuation."""
    tokens: list[str] = []
    for token in cast(list[str], _TOKEN.findall(text)):
        if token.isspace() and chance.random() < share:
            token = "\n"
        elif token in ",;{}[]()|+=" and chance.random() < share / 2:
            token = f"\n{token}\n"
        tokens.append(token)
    return "".join(tokens)


def told(text: str) -> list[object]:
    """All statements and problems, but for where they are."""
    return [
        (_plain(item.node), [problem[2:] for problem in item.problems])
        for item in Document.parse(Source.of(text)).items
    ]


def _plain(part: object) -> object:
    if isinstance(part, nodes.Node):
        own = [_plain(getattr(part, name)) for name in nodes.field_names(type(part))]
        return type(part).__name__, *own
    if isinstance(part, tuple):
        return tuple(_plain(inner) for inner in cast("tuple[object, ...]", part))
    return part


@pytest.mark.parametrize("end", ["\n", "\r\n", " \r\n", "\t// a\r\n"])
def test_an_opcode_of_several_lines(end: str) -> None:
    text = ".entry k() { ld.global.v2.u32 {%r1, %r2}, [%rd1]; st.shared.b32 [%r1], 1; }"
    assert told(re.sub(r"\.(global|v2|u32|shared|b32)\b", rf"{end}.\1", text)) == told(text)
