"""Public docstrings avoid the phrases of `test_language` and begin with the name of what they describe."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.docs.test_language import ROOT, unidiomatic

FOLDERS = ("benchmarks", "ptx_lsp")
OPENINGS = re.compile(r"(Those|That|What|Who|Whose|The same(?! object\b))\b")


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The docstrings of the module and of its public classes, functions and fields, with their lines."""
    waiting: list[ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef] = [tree]
    while waiting:
        node = waiting.pop()
        holds_fields = isinstance(node, ast.Module | ast.ClassDef)
        for before, one in zip([None, *node.body], node.body, strict=False):
            match one:
                case ast.Expr(ast.Constant(str(text))) if before is None or (
                    holds_fields and is_public_field(before)
                ):
                    yield one.lineno, text
                case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                    if holds_fields and not one.name.startswith("_"):
                        waiting.append(one)
                case _:
                    pass


def is_public_field(node: ast.stmt) -> bool:
    """Whether a statement assigns to a name without a leading underscore."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return all(isinstance(one, ast.Name) and not one.id.startswith("_") for one in targets)


def faults(source: str) -> list[str]:
    """The phrases and openings to replace, with the lines of their docstrings."""
    found: list[str] = []
    for line, text in sorted(docstrings(ast.parse(source))):
        found += [f"docstring at line {line}, {fault}" for fault in unidiomatic(text)]
        if opening := OPENINGS.match(text):
            found.append(f"docstring at line {line}: begins with `{opening[0]}`, name the subject")
    return found


def test_docstrings() -> None:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    found = {
        path.relative_to(ROOT): wrong for path in paths if (wrong := faults(path.read_text(encoding="utf-8")))
    }
    assert found == {}


def test_what_is_found() -> None:
    source = (
        '"""Who waits."""\n\n\nclass A:\n    """The part behind B."""\n'
        '\n    b: int\n    """What it is."""\n'
    )
    assert faults(source) == [
        "docstring at line 1: begins with `Who`, name the subject",
        "docstring at line 5, line 1: `behind`, write after",
        "docstring at line 8: begins with `What`, name the subject",
    ]


def test_private_names_are_not_checked() -> None:
    assert faults('def _f() -> None:\n    """What it is."""\n\n\n_A = 1\n"""Who waits."""\n') == []
