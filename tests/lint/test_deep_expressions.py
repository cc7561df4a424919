"""Expressions of any size: what is too deep is not looked into, and nothing fails."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.editing.formatting import formatting
from ptx_lsp.ide.hover.hover import hover
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

_MANY = 5_000
_EXPRESSIONS = {
    "sum": "+".join(["1"] * _MANY),
    "parentheses": "(" * _MANY + "1" + ")" * _MANY,
    "signs": "- " * _MANY + "1",
    "casts": "(.s64)" * _MANY + "1",
    "choices": "1?2:" * _MANY + "3",
    "sums in parentheses": "(1+" * _MANY + "1" + ")" * _MANY,
    "sums of sums": "(" * 80 + "+".join(["1"] * 90) + "+1)" * 80,
}
_FILES = {
    "an operand": "mov.b64 %rd1, {};",
    "an offset": "ld.global.b32 %r1, [%rd1+{}];",
    "an index": "ld.shared.b32 %r1, x[{}];",
    "an initial value": ".global .b32 value = {};",
}


def _kernel(line: str) -> str:
    return f"""\
.version 8.5
.target sm_90
.address_size 64
.entry kernel()
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    .shared .b32 x[4];
    mov.b64 %rd1, 0;
    {line}
    ret;
}}
"""


@pytest.mark.parametrize("place", _FILES)
@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_it_is_accepted(place: str, expression: str) -> None:
    module = Module.parse(_kernel(_FILES[place].format(_EXPRESSIONS[expression])))
    assert [one for one in LintSession(module).diagnostics if one.severity == "error"] == []


@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_editors_show_it(expression: str) -> None:
    text = _kernel(_FILES["an operand"].format(_EXPRESSIONS[expression]))
    module = Module.parse(text)
    assert hover(module, text.index("mov.b64 %rd1, 0")) is not None
    assert hover(module, text.rindex("%rd1")) is not None
    hover(module, text.index(";", text.rindex("mov")) - 1)
    assert formatting(module)  # blanks around operators, or longer blanks made one


def test_a_chain_of_a_hundred_is_computed() -> None:
    line = "mov.b64 %rd1, 1/(" + "+".join(["1"] * 90) + " - 90);"
    (found,) = [
        one
        for one in LintSession(Module.parse(_kernel(line))).diagnostics
        if one.severity == "error"
    ]
    assert found.rule == "invalid-constant"
