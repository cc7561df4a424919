"""Integer constants among operands."""

from __future__ import annotations

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer


def literal(value: nodes.Expression) -> int | None:
    """The value of `7`, `-7` or `+7`; None for any other operand."""
    match value:
        case nodes.Number(text=text, kind="integer"):
            return integer(text)
        case nodes.Unary(operator="-" | "+" as sign, value=nodes.Number(text=text, kind="integer")):
            found = integer(text)
            return -found if found is not None and sign == "-" else found
        case _:
            return None
