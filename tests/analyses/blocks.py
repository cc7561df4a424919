"""Reads the Markdown files of this folder: under each heading of the second level a block of PTX, whose
lines end with what must be known of them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
_FENCE = re.compile(r"^## (?P<title>[^\n]*)\n.*?^```ptx\n(?P<body>.*?)^```", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """The heading above a block, and its text."""

    title: str
    source: str


def blocks(path: Path) -> list[Block]:
    """Those of one file."""
    text = path.read_text()
    found = [Block(match["title"], match["body"]) for match in _FENCE.finditer(text)]
    assert len(found) == text.count("```ptx"), "each block wants a heading of its own"
    return found


def line_of(function: Function, node: nodes.Instruction, source: str) -> str:
    """The line of `source` that an instruction begins in."""
    start = function.item.start + node.start
    return source[source.rfind("\n", 0, start) + 1 : source.find("\n", start)]
