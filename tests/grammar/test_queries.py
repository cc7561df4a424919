"""The grammar's queries: they fit the grammar, and highlight what the example files say.

The example files follow tree-sitter's own format: under a line, `// ^ name` says what the character
above the caret is highlighted as, `// <- name` what the first character of the comment's column is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter_ptx
from tree_sitter import Language, Parser, Query, QueryCursor

EXAMPLES = Path(__file__).parents[2] / "tree-sitter-ptx" / "test" / "highlight"
QUERIES = ("HIGHLIGHTS", "FOLDS", "LOCALS", "TAGS", "INDENTS", "INJECTIONS")
_ASSERTION = re.compile(r"^\s*//\s*(?P<mark>\^|<-)\s+(?P<name>[\w.]+)\s*$")


def language() -> Language:
    return Language(tree_sitter_ptx.language())


@pytest.mark.parametrize("name", QUERIES)
def test_query_fits_the_grammar(name: str) -> None:
    assert Query(language(), getattr(tree_sitter_ptx, f"{name}_QUERY")).pattern_count > 0


def assertions(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Row, column and name of each assertion, the row being that of the code above it."""
    row = -1
    for number, line in enumerate(lines):
        match = _ASSERTION.match(line)
        if match is None:
            row = number
        else:
            column = line.index("^") if match["mark"] == "^" else line.index("//")
            yield row, column, match["name"]


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.ptx")), ids=lambda path: path.name)
def test_highlight(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    tree = Parser(language()).parse(text.encode())
    query = Query(language(), tree_sitter_ptx.HIGHLIGHTS_QUERY)
    names: dict[tuple[int, int], tuple[int, str]] = {}
    for pattern, captures in QueryCursor(query).matches(tree.root_node):
        for name, found in captures.items():
            if name.startswith("_"):
                continue
            for node in found:
                if node.start_point.row != node.end_point.row:
                    continue
                for column in range(node.start_point.column, node.end_point.column):
                    at = (node.start_point.row, column)
                    if pattern >= names.get(at, (-1, ""))[0]:
                        names[at] = (pattern, name)
    checked = 0
    for row, column, name in assertions(text.split("\n")):
        assert names.get((row, column), (0, None))[1] == name, f"line {row + 1}, column {column + 1}"
        checked += 1
    assert checked >= 20
