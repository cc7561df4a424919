"""Declarations, parameters and structures of a tree-sitter tree as typed nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.lower_leaves import parts_of
from ptx_lsp.syntax.lower_operands import MOST_NESTED, Operands
from ptx_lsp.syntax.problem import SyntaxProblem

if TYPE_CHECKING:
    from tree_sitter import Node

_BANK = lazy_pattern(r"\.const\[(?:0|[1-9][0-9]?)\]|\.tex\[\d+\]")
"""The rule `legacy-syntax` reports `.tex[0]`."""
_VECTORS = (".v2", ".v4")


class Declarations(Operands):
    """Lowers declarations."""

    def declaration(self, node: Node) -> nodes.Declaration:
        """A declaration, including parameters and fields of a structure."""
        linkage: list[nodes.Name] = []
        modifiers: list[nodes.Name] = []
        declarators: list[nodes.Declarator] = []
        attributes: list[nodes.Attribute] = []
        leading: list[nodes.Expression | None] = []
        space: nodes.Name | None = None
        bank: nodes.Expression | None = None
        type_name: nodes.Name | None = None
        alignment: nodes.Number | nodes.Missing | None = None
        misplaced = False
        is_last = False  # a `.align` after the type: only the name of the parameter may follow
        within = "a parameter" if node.type == "parameter" else "a declaration"
        kind = ""
        for child in parts_of(node):
            previous, kind = kind, child.type
            match kind:
                case "linkage":
                    linkage.append(self.name(child))
                case "space":
                    space = self.name(child.children[0])
                    bank = self.bank(child, within)
                case "modifier" if type_name is not None:
                    word = self.name(child)
                    if not misplaced:
                        wanted = "`,` or `)`" if node.type == "parameter" else "a name"
                        self.problems.append(SyntaxProblem(word.start, word.end, wanted, within))
                    misplaced = True
                case "modifier":
                    modifiers.append(self.name(child))
                    if is_last:
                        word = modifiers[-1]
                        self.problems.append(SyntaxProblem(word.start, word.end, "a name", within))
                case "dimension":
                    if not leading:  # `.f32[4] v` of PTX 1.x
                        first, last = self._span(child)
                        self.problems.append(SyntaxProblem(first, last, "a name", within))
                    leading.append(self.dimension(child))
                case "alignment":
                    alignment = self.count(child.children[-1], "an alignment in bytes", within)
                    if modifiers:
                        is_last |= self.behind_type(child, modifiers[-1], within, is_last)
                case "attribute":
                    attributes.extend(self.attribute(child))
                    if modifiers:
                        self.behind_type(child, modifiers[-1], within)
                case "type_name":
                    type_name = self.name(child)
                case "declarator":
                    declarators.append(self.declarator(child, leading))
                case "missing" if space is None and node.type == "declaration":
                    self.missing(child, "a state space", within)
                case "missing":
                    # ptxas takes `.reg .b32;`, which declares nothing
                    if not (leading or (modifiers and not declarators and self._follows(child, ";"))):
                        self._missing_in_list(child, previous, "a name", within, bool(declarators))
                case "junk" if declarators or not leading:
                    self.junk(child, "`,` or `;`" if declarators else "a name", within)
                case _:
                    pass
        start, end = self._span(node)
        for one in declarators if node.type == "parameter" else ():
            if one.range is not None:
                self.problems.append(SyntaxProblem(one.name.end, one.end, "`,` or `)`", within))
        if type_name is not None and modifiers and declarators and not misplaced:
            # a name comes after the type: an apparent structure is a name without its comma
            second = declarators[0]
            self.problems.append(SyntaxProblem(second.start, second.end, "`,` or `;`", within))
            unseparated = nodes.Declarator(type_name.start, type_name.end, type_name, None, (), None)
            declarators.insert(0, unseparated)
            type_name = None
        if node.type == "parameter" and not declarators:
            self.problems.append(SyntaxProblem(end, end, "a name", within))
        return nodes.Declaration(
            start, end, tuple(linkage), space, bank, tuple(modifiers), type_name, alignment,
            tuple(attributes), tuple(declarators),
        )

    def bank(self, node: Node, within: str) -> nodes.Expression | None:
        """The `2` of `.const[2]`. To ptxas this is one token, without blanks, and only valid for `.const`."""
        if node.child_count == 1:
            return None
        bank = self.dimension(node.children[-1])
        if _BANK.fullmatch(self._text(node)) is None:
            start, end = self._span(node.children[-1])
            self.problems.append(SyntaxProblem(start, end, "a type", within))
        return bank

    def behind_type(
        self, node: Node, word: nodes.Name, within: str, is_second: bool = False
    ) -> bool:
        """Whether this is an `.align` after the type. `.align` and `.attribute` come before the type, except
        one `.align` of a parameter, which may follow it.
        """
        may_follow = node.type == "alignment" and within == "a parameter" and not is_second
        if may_follow and word.text not in _VECTORS:
            return True
        start, end = self._span(node)
        expected = f"a name (`{node.children[0].type}` must precede the type)"
        self.problems.append(SyntaxProblem(start, end, expected, within))
        return False

    def declarator(
        self, node: Node, leading: list[nodes.Expression | None]
    ) -> nodes.Declarator:
        name: nodes.Name | None = None
        count: nodes.Number | nodes.Missing | None = None
        dimensions = list(leading)
        initializer: nodes.Expression | None = None
        for child in parts_of(node):
            match child.type:
                case "identifier" if name is None:
                    name = self.name(child)
                case "range":
                    count = self.range(child)
                case "dimension":
                    dimensions.append(self.dimension(child))
                case "=":
                    pass
                case "missing":
                    initializer = self.missing(child, "a value", "an initialiser")
                case _:
                    initializer = self.operand(child)
        start, end = self._span(node)
        assert name is not None  # the grammar's first part
        return nodes.Declarator(start, end, name, count, tuple(dimensions), initializer)

    def range(self, node: Node) -> nodes.Number | nodes.Missing:
        parts = list(parts_of(node))
        if parts[-1].type == "missing" and len(parts) == 3:
            self.missing(parts[-1], "`>`", "a register range", ">")
        return self.count(parts[1], "how many registers", "a register range")

    def dimension(self, node: Node) -> nodes.Expression | None:
        size: nodes.Expression | None = None
        for child in parts_of(node):
            if child.type == "missing":
                self.missing(child, "`]`", "a dimension", "]")
            elif child.type not in "[]":
                size = self.operand(child)
                if not isinstance(size, nodes.Name | nodes.Number):
                    self.problems.append(
                        SyntaxProblem(
                            size.start, size.end, "a single number (not an expression)", "a size"
                        )
                    )
        return size

    def attribute(self, node: Node) -> Iterator[nodes.Attribute]:
        for child in parts_of(node):
            if child.type == "missing":
                self.missing(child, "`(`, an attribute or `)`", "an attribute list")
            if child.type != "attribute_value":
                continue
            name: nodes.Name | None = None
            values: list[nodes.Expression] = []
            for part in parts_of(child):
                if part.type == "modifier":
                    name = self.name(part)
                elif part.type == "missing":
                    self.missing(part, "a value or `)`", "an attribute")
                elif part.type not in "(,)":
                    values.append(self.operand(part))
            assert name is not None
            start, end = self._span(child)
            yield nodes.Attribute(start, end, name, tuple(values))

    def aggregate(self, node: Node) -> nodes.Aggregate:
        name: nodes.Name | None = None
        fields: list[nodes.Declaration | nodes.Aggregate] = []
        parts = list(parts_of(node))
        for child in parts[1:]:
            match child.type:
                case "identifier":
                    name = self.name(child)
                case "field":
                    fields.append(self.declaration(child))
                case "aggregate" if self.depth < MOST_NESTED:
                    self.depth += 1
                    fields.append(self.aggregate(child))
                    self.depth -= 1
                case "missing" | "missing_brace":
                    self.missing(child, "`{` and fields, or `}`", "a structure")
                case "junk":
                    self.junk(child, "a field or `}`", "a structure")
                case _:
                    pass
        start, end = self._span(node)
        return nodes.Aggregate(start, end, self.name(parts[0]), name, tuple(fields))
