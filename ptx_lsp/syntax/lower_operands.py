"""Operands of a tree-sitter tree as typed nodes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.lower_leaves import Leaves, parts_of
from ptx_lsp.syntax.problem import SyntaxProblem

if TYPE_CHECKING:
    from tree_sitter import Node

NUMBERS = frozenset({"integer", "float", "exact_float", "malformed_number"})
MOST_NESTED = 100
"""A deeper operand is not lowered but becomes one `nodes.Nested`. Each operator of a chain counts."""


class Operands(Leaves):
    """Lowers operands."""

    def __init__(self, text: str, base: int) -> None:
        super().__init__(text, base)
        self.depth = 0

    def operand(self, node: Node) -> nodes.Operand:
        kind = node.type
        if kind == "identifier" or kind == "modifier":
            return self.name(node)
        if kind in NUMBERS:
            return self.number(node, "a number", "an operand")
        if kind == "string":
            return nodes.String(*self._span(node), self._text(node))
        if kind == "missing":
            return self.missing(node, "an operand", "an expression")
        if self.depth == MOST_NESTED:
            return nodes.Nested(*self._span(node))
        self.depth += 1
        try:
            return self.compound(node)
        finally:
            self.depth -= 1

    def compound(self, node: Node) -> nodes.Operand:
        start, end = self._span(node)
        match node.type:
            case "address":
                return self.address(node)
            case "vector":
                items = self._items(node, "an operand", "a vector")
                return nodes.Vector(start, end, self._operands(items))
            case "group":
                items = self._items(node, "an operand", "a list in parentheses")
                return nodes.Group(start, end, self._operands(items))
            case "field_value":
                return self.field_value(node)
            case "initializer_list":
                return self.initializer_list(node)
            case _:
                return self.expression(node)

    def address(self, node: Node) -> nodes.Address:
        start, end = self._span(node)
        last = node.children[-1]
        suffix = self.name(last) if last.type == "modifier" and node.child_count > 3 else None
        items = self._items(node, "an address", "an address", skip=last if suffix else None)
        return nodes.Address(start, end, self._operands(items), suffix)

    def expression(self, node: Node) -> nodes.Expression:
        start, end = self._span(node)
        parts = list(parts_of(node))
        match node.type:
            case "member":
                components = tuple(self.name(part) for part in parts[1:])
                return nodes.Member(start, end, self.operand(parts[0]), components)
            case "element":
                return self.element(node, parts)
            case "pair":
                right = parts[2]
                second = (
                    self.missing(right, "a name", "a pair of destinations")
                    if right.type == "missing"
                    else self.name(right)
                )
                first = self.operand(parts[0])
                assert isinstance(first, nodes.Name | nodes.Vector)
                return nodes.Pair(start, end, first, second)
            case "unary_expression":
                return nodes.Unary(start, end, self._text(parts[0]), self.operand(parts[1]))
            case "binary_expression":
                return self.chain(node)
            case "conditional_expression":
                if parts[3].type == "missing":
                    self.missing(parts[3], "`:`", "a `?` expression", ":")
                a, b, c = (self.operand(parts[i]) for i in (0, 2, 4))
                return nodes.Conditional(start, end, a, b, c)
            case "cast_expression":
                if parts[2].type == "missing":
                    self.missing(parts[2], "`)`", "a cast", ")")
                return nodes.Cast(start, end, self.name(parts[1]), self.operand(parts[3]))
            case "relocation":
                operator = self.operand(parts[0])
                assert isinstance(operator, nodes.Name | nodes.Number)
                items = self._items(node, "a name", "a relocation", skip=parts[0])
                return nodes.Relocation(start, end, operator, self._operands(items))
            case _:
                self.problems.append(SyntaxProblem(start, end, "an operand", "an instruction"))
                return nodes.Missing(start, end)

    def chain(self, node: Node) -> nodes.Expression:
        """A chain `1+1+...+1`, whose first part is the deepest. A chain that is too long is not lowered, so
        that code that descends into nodes never goes too deep.
        """
        links: list[tuple[Node, Node, Node]] = []
        left = node
        while left.type == "binary_expression":
            inner = list(parts_of(left))
            links.append((left, inner[1], inner[2]))
            left = inner[0]
            if self.depth + len(links) > MOST_NESTED:
                return nodes.Nested(*self._span(node))
        self.depth += len(links)
        value = self.operand(left)
        for whole, operator, right in reversed(links):
            start, end = self._span(whole)
            value = nodes.Binary(start, end, self._text(operator), value, self.operand(right))
        self.depth -= len(links)
        return value

    def element(self, node: Node, parts: list[Node]) -> nodes.Element:
        start, end = self._span(node)
        indices: list[nodes.Expression] = []
        for before, part in pairwise(parts):
            if part.type == "missing" and before.type != "[":
                self.missing(part, "`]`", "an index", "]")
            elif part.type not in "[]":
                indices.append(self.operand(part))
        return nodes.Element(start, end, self.name(parts[0]), tuple(indices))

    def initializer_list(self, node: Node) -> nodes.InitializerList:
        start, end = self._span(node)
        items = self._items(node, "a value", "an initialiser")
        return nodes.InitializerList(start, end, self._operands(items))

    def field_value(self, node: Node) -> nodes.FieldValue:
        start, end = self._span(node)
        name, _, value = parts_of(node)
        if value.type == "missing":
            return nodes.FieldValue(
                start, end, self.name(name), self.missing(value, "a value", "an initialiser")
            )
        return nodes.FieldValue(start, end, self.name(name), self.operand(value))

    def _operands(self, items: Iterator[Node | nodes.Missing]) -> tuple[nodes.Operand, ...]:
        return tuple(
            item if isinstance(item, nodes.Missing) else self.operand(item) for item in items
        )
