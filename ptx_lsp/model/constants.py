"""What kind of number a constant expression gives (PTX ISA, "Constant Expressions")."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ptx_lsp.model.scope import integer
from ptx_lsp.syntax import nodes

ConstantKind: TypeAlias = Literal["integer", "float"]

_ARITHMETIC = ("+", "-", "*", "/")
WORD: Final = 2**64
"""Integers are of 64 bits (PTX ISA, "Integer Constants")."""


def constant(text: str) -> int | None:
    """What ptxas 13.5 takes an integer literal for: the lowest 64 bits of its value. None where the text is
    no integer, and where it says "Constant overflow": where a digit comes behind others whose lowest 64 bits
    have the top one set. So `0x10000000000000000` is 0, and `0x80000000000000000` overflows.
    """
    value = integer(text)
    if value is None or value < WORD:
        return value
    digits = text.removesuffix("U")
    base = {"x": 16, "b": 2}.get(digits[1].lower(), 8 if digits[0] == "0" else 10)
    shorter = value // base
    while shorter:
        if shorter % WORD >= WORD // 2:
            return None
        shorter //= base
    return value % WORD


def constant_kind(value: nodes.Expression) -> ConstantKind | None:
    """None where `value` is no constant expression, or one that ptxas does not take."""
    match value:
        case nodes.Number(kind="integer"):
            return "integer"
        case nodes.Number(kind="float" | "exact_float"):
            return "float"
        case nodes.Name(text="WARP_SZ"):
            return "integer"
        case nodes.Group(items=(inner,)):
            return constant_kind(inner)
        case nodes.Unary(operator=operator, value=inner):
            kind = constant_kind(inner)
            return kind if operator in ("+", "-") or kind == "integer" else None
        case nodes.Cast(value=inner):
            return "integer" if constant_kind(inner) == "integer" else None
        case nodes.Conditional(condition=condition, then=then, otherwise=otherwise):
            parts = (condition, then, otherwise)
            return "integer" if all(constant_kind(part) == "integer" for part in parts) else None
        case nodes.Binary():
            return _binary(value)
        case _:
            return None


def _binary(value: nodes.Binary) -> ConstantKind | None:
    """Without recursion along chains such as `1+1+1+...`."""
    chain = [value]
    while isinstance(chain[-1].left, nodes.Binary):
        chain.append(chain[-1].left)
    kind = constant_kind(chain[-1].left)
    for link in reversed(chain):
        if kind is None or constant_kind(link.right) != kind:
            return None
        if link.operator not in _ARITHMETIC:
            kind = "integer"  # comparisons of floats too
    return kind


def whole_number(value: nodes.Expression) -> int | None:
    """The value of one whole literal or `WARP_SZ`, as a directive takes it; None of anything else."""
    if isinstance(value, nodes.Name):
        return 32 if value.text == "WARP_SZ" else None
    if not isinstance(value, nodes.Number) or value.kind != "integer":
        return None
    digits = value.text.upper().removesuffix("U")
    is_octal = digits.startswith("0") and digits.isdigit()
    try:
        return int(digits, 8 if is_octal else 0)
    except ValueError:
        return None
