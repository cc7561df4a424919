"""Generic traversal of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, TypeGuard, cast

from ptx_lsp.syntax import nodes

Node: TypeAlias = (
    nodes.Statement | nodes.Expression | nodes.Opcode | nodes.Guard | nodes.Declarator
    | nodes.Attribute
)

_NODES = frozenset((
    nodes.Instruction, nodes.Label, nodes.Block, nodes.Declaration, nodes.Directive, nodes.Version,
    nodes.Target, nodes.AddressSize, nodes.File, nodes.Location, nodes.Section, nodes.Alias,
    nodes.CallPrototype, nodes.TargetList, nodes.Aggregate, nodes.Junk, nodes.DwarfLine,
    nodes.Function, nodes.Name, nodes.Number, nodes.String, nodes.Missing, nodes.Member,
    nodes.Element, nodes.Unary, nodes.Binary, nodes.Conditional, nodes.Cast, nodes.Relocation,
    nodes.Group, nodes.Pair, nodes.Address, nodes.Vector, nodes.InitializerList, nodes.FieldValue,
    nodes.Nested, nodes.Opcode, nodes.Guard, nodes.Declarator, nodes.Attribute,
))


def children(node: Node) -> Iterator[Node]:
    """The direct children of `node`, in the order of its fields."""
    for part in _parts(node):
        if _is_node(part):
            yield part
        elif part.__class__ is tuple:
            yield from filter(_is_node, _parts(part))


def _parts(node: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", node)


def _is_node(part: object) -> TypeGuard[Node]:
    return type(part) in _NODES
