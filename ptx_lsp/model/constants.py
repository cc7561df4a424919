"""What kind of number a constant expression gives (PTX ISA, "Constant Expressions")."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.syntax import nodes

ConstantKind: TypeAlias = Literal["integer", "float"]

_ARITHMETIC = ("+", "-", "*", "/")


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
