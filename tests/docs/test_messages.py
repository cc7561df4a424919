"""Messages and the documentation of rules avoid the phrases that `test_language` refuses in pages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ptx_lsp.lint.registry import all_rules
from tests.docs.test_language import unidiomatic

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "ptx_lsp").rglob("*.py"))


def _texts(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The texts of several words that code uses, with their lines: no docstrings, placeholders as `_`."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Constant(value=str(text), lineno=line):
            if " " in text.strip():
                yield line, text
        case ast.JoinedStr(values=values, lineno=line):
            parts = (part.value if isinstance(part, ast.Constant) else "_" for part in values)
            yield line, "".join(map(str, parts))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _texts(child)


def test_messages() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{line}: {found} in {text!r}"
        for file in FILES
        for line, text in _texts(ast.parse(file.read_text(encoding="utf-8")))
        for found in unidiomatic(text)
    ]
    assert not wrong, "\n".join(wrong)


def test_rules() -> None:
    wrong = [
        f"{rule.name}: {found}" for rule in all_rules() for found in unidiomatic(rule.documentation)
    ]
    assert not wrong, "\n".join(wrong)


def test_what_is_found() -> None:
    code = 'def f(x):\n    """Told."""\n    say(f"{x} is no part", "behind")\n    say("b behind `is no`")\n'
    texts = list(_texts(ast.parse(code)))
    assert texts == [(3, "_ is no part"), (4, "b behind `is no`")]
    assert [len(list(unidiomatic(text))) for _, text in texts] == [1, 1]
