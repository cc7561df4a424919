"""Scopes that one block opens and another one closes."""

from __future__ import annotations

import pytest

from ptx_lsp.embedded.scopes import scopes
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.selection import chosen
from ptx_lsp.lint.inline.block_linter import BlockLinter
from tests.embedded.test_cuda import document


@pytest.mark.parametrize(
    ("text", "opened", "closed", "names"),
    [
        ("{ .reg .pred p; }", 0, 0, ""),
        (".reg .pred p, %q; { .reg .b32 r; }", 0, 0, "p %q"),
        ("{ .reg .b32 %t<4>;", 1, 0, "%t"),
        ("mov.b64 %0, {a, b}; }", 0, 1, ""),
        ('{ // }\n /* } */ .pragma "}";', 1, 0, ""),
        ("} {", 1, 1, ""),
    ],
)
def test_scopes(text: str, opened: int, closed: int, names: str) -> None:
    assert scopes(text.encode()) == (opened, closed, frozenset(names.split()))


def rules(*templates: str) -> list[str]:
    """The rules that find something in the `asm` statements of a function."""
    statements = "\n".join(f'asm volatile("{one}" :: "r"(x));' for one in templates)
    linter = BlockLinter(chosen(()), [Target(90, "a")])
    found = linter.diagnostics(document(f"void f() {{\n{statements}\n}}\n"))
    return [one.rule for one in found if one.severity == "error"]


def test_shared() -> None:
    assert rules("{ .reg .b32 t; mov.b32 t, %0;", "st.b32 [0], t;", "}") == ["immediate-address"]


def test_not_shared() -> None:
    assert rules("{ .reg .b32 t; mov.b32 t, %0;") == ["syntax-error"]
    assert rules("mov.b32 t, %0;") == ["undeclared-name"]
    assert "outside-function" in rules("ret; }", "{ ret;")
