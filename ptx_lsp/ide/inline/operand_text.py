"""Operands of a block in words."""

from __future__ import annotations

from ptx_lsp.embedded.block import Access, Block, Operand
from ptx_lsp.ide.cursor.markdown import code, listed, paragraphs

_ACCESS: dict[Access, str] = {"read": "input", "write": "output", "both": "input and output"}


def operand_text(block: Block, operand: Operand, written: str | None = None) -> str:
    """An operand in Markdown, as `written` in the host: what it passes, how, and the register that the block
    sees.
    """
    name, constraint = code(written or operand.name), code(_quoted(operand.constraint))
    first = f"{name}: {_ACCESS[operand.access]}, constraint {constraint}"
    if operand.expression:
        passed = "result goes to" if operand.access == "write" else "value"
        first += f", {passed} {code(_one_line(operand.expression))}"
    facts = [_register(operand)]
    if operand.early_clobber:
        facts.append("early clobber: it shares no register with an input")
    if operand.tied_to is not None:
        facts.append(f"shares its register with {code(operand.tied_to)}")
    facts += [
        f"{code(one.name)} shares its register" for one in block.operands if one.tied_to == operand.name
    ]
    return paragraphs([first, listed(facts)])


def operand_detail(operand: Operand) -> str:
    """An operand in one line."""
    passed = f" {_one_line(operand.expression)}" if operand.expression else ""
    register = f"{operand.type} " if operand.type is not None else ""
    return f"{register}{_quoted(operand.constraint)}{passed}"


def _register(operand: Operand) -> str:
    if operand.type is not None:
        return f"a register of type {code(operand.type)}"
    if operand.value is not None:
        return f"the constant {code(operand.value)}"
    return "a constant, or a constraint that PTX does not have"


def _quoted(constraint: str) -> str:
    return f'"{constraint}"'


def _one_line(expression: str) -> str:
    text = " ".join(expression.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


_LONGEST = 80
"""Characters of an expression."""
