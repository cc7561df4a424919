"""`nvvm.inline_ptx` of MLIR in Python, and the functions that wrap it, such as `cute.arch.inline_ptx`.

The operands `{$r0}`, `{$w0}` and `{$rw0}` are the elements of the arguments `read_only_args`,
`write_only_types` or `write_only_args`, and `read_write_args`. They have registers of their types.
https://mlir.llvm.org/docs/Dialects/NVVMDialect/#nvvminline_ptx-nvvminlineptxop
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded import python_blocks
from ptx_lsp.embedded.block import Access, Block, Operand
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.llvm_constraints import Constraints, llvm_template
from ptx_lsp.embedded.mapped_text import Encode
from ptx_lsp.embedded.python_blocks import Call, Draft, block_of, element_nodes, passed
from ptx_lsp.embedded.python_strings import PythonStrings
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES = lazy_pattern(rb"\b\w*inline_ptx(?:_hl)?\b(?=\s*\()")
_REGISTER_TYPES: Final = {
    "Boolean": ".pred", "i1": ".pred",
    "Int16": ".b16", "Uint16": ".b16", "Float16": ".b16", "BFloat16": ".b16", "i16": ".b16", "f16": ".b16",
    "Int32": ".b32", "Uint32": ".b32", "i32": ".b32",
    "Int64": ".b64", "Uint64": ".b64", "i64": ".b64",
    "Float32": ".f32", "f32": ".f32", "Float64": ".f64", "f64": ".f64",
}  # fmt: skip
"""The registers for the numeric types of the CuTe DSL, and for those of MLIR."""


class _Role(NamedTuple):
    """A kind of operands: its prefix in the template, and the arguments that have its elements."""

    prefix: str
    access: Access
    position: int
    arguments: tuple[str, ...]


_ROLES: Final = (
    _Role("rw", "both", 2, ("read_write_args",)),
    _Role("w", "write", 0, ("write_only_args", "write_only_types")),
    _Role("r", "read", 1, ("read_only_args",)),
)


def blocks(text: HostText) -> Iterator[Block]:
    """The calls `inline_ptx(template, ...)` and `inline_ptx(results, reads, updates, template, ...)`."""
    return python_blocks.blocks(text, "nvvm", _NAMES, _template, lambda call: None, _block)


def _template(call: Call) -> Node | None:
    return call.argument(3 if _is_operation(call) else 0, "ptx_code", "ptx")


def _is_operation(call: Call) -> bool:
    """Whether the function is the operation of the dialect itself, whose template follows the operands."""
    return len(call.positional) > 3


def _block(strings: PythonStrings, draft: Draft) -> Block | None:
    operands: list[Operand] = []
    are_known = True
    for role in _ROLES:
        position = role.position if _is_operation(draft.call) else len(draft.call.positional)
        node = draft.call.argument(position, *role.arguments)
        found = element_nodes(strings, node)
        are_known &= node is None or found is not None
        operands += [_operand(role, number, one) for number, one in enumerate(found or ())]
    text = draft.text.replaced(_OPERAND, lambda match: match["name"]).with_encoding(_with_braces)
    return block_of(
        "nvvm", draft, llvm_template(text), Constraints(tuple(operands), (), are_known), True
    )


def _operand(role: _Role, number: int, node: Node) -> Operand:
    expression = passed(node)
    is_type = role.access == "write"
    return Operand(
        f"${role.prefix}{number}",
        _register_type(node),
        role.access,
        expression.text if is_type else "",
        expression.span if is_type else Span(expression.span.start, expression.span.start),
        "" if is_type else expression.text,
        Span(expression.span.start, expression.span.start) if is_type else expression.span,
    )


def _register_type(node: Node) -> str | None:
    """The type of the register for a numeric type, its constructor, or a method `ir_value` of that."""
    name = node
    while name.type in ("call", "attribute"):
        inner = name.child_by_field_name("function" if name.type == "call" else "attribute")
        if inner is None:
            return None
        if name.type == "attribute" and inner.text in (b"ir_value", b"mlir_type"):
            inner = name.child_by_field_name("object") or inner
        name = inner
    return _REGISTER_TYPES.get((name.text or b"").decode("utf-8", "replace"))


_OPERAND = lazy_pattern(rb"\{(?P<name>\$(?:rw|w|r)\d+)\}")
_NAME = lazy_pattern(r"\$\$((?:rw|w|r)\d+)")


def _with_braces(encode: Encode) -> Encode:
    return lambda text: encode(_NAME.sub(r"{$\1}", text))


HOST = Host("nvvm", ("python",), (b"inline_ptx",), blocks)
