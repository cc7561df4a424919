"""Tree-sitter's own corpus files, run without its command line.

`tree-sitter test --update` rewrites the expected trees; read the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import tree_sitter_ptx
from tree_sitter import Language, Parser

FOLDER = Path(__file__).parents[2] / "tree-sitter-ptx" / "test" / "corpus"
_CASE = re.compile(
    r"^=+\n(?P<title>[^\n]+)\n=+\n(?P<source>.*?)^-{3,}\n(?P<tree>.*?)(?=^=+\n[^\n]+\n=+\n|\Z)",
    re.MULTILINE | re.DOTALL,
)


class Case(NamedTuple):
    """One titled example of a corpus file and the tree it must give."""

    file: Path
    title: str
    source: str
    tree: str


def cases() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.txt")):
        for match in _CASE.finditer(file.read_text(encoding="utf-8")):
            # the line after the rule and the one before the next belong to the format
            source = match["source"].removeprefix("\n").removesuffix("\n")
            yield Case(file, match["title"], source, " ".join(match["tree"].split()))


def parse(source: str) -> str:
    """The tree of named nodes, on one line, without the names of fields."""
    parser = Parser(Language(tree_sitter_ptx.language()))
    text = str(parser.parse(source.encode()).root_node)
    return re.sub(r"\b[a-z_]+: ", "", text)


def squeezed(tree: str) -> str:
    return tree.replace(" (", "(").replace("( ", "(").replace(" )", ")")


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: f"{case.file.stem}: {case.title}")
def test_tree(case: Case) -> None:
    assert squeezed(parse(case.source)) == squeezed(case.tree)


def test_corpus_is_there() -> None:
    assert len(list(cases())) >= 20
