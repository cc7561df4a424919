"""Directives of a tree-sitter tree as typed nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.lower_declarations import Declarations
from ptx_lsp.syntax.lower_leaves import parts_of
from ptx_lsp.syntax.lower_operands import NUMBERS
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.section_data import RESERVED, data_problems
from ptx_lsp.syntax.validation import location_problems

if TYPE_CHECKING:
    from tree_sitter import Node

_FILE_NUMBERS = 2
"""Time and size, after the path."""
_COUNTS = NUMBERS | {"identifier"}
"""`WARP_SZ` is the only name that the grammar accepts as a number there."""
_MODIFIER = lazy_pattern(r"\.[\w$]+")


class Directives(Declarations):
    """Lowers directives."""

    def directive(self, node: Node) -> nodes.Directive:
        linkage: list[nodes.Name] = []
        arguments: list[nodes.Expression] = []
        name: nodes.Name | None = None
        parts = list(parts_of(node))
        for child in parts:
            match child.type:
                case "linkage":
                    linkage.append(self.name(child))
                case "modifier" | ".pragma":
                    name = self.name(child)
                case "missing":
                    more = node.type != "pragma" or child is not parts[-1] or not arguments
                    wanted = ("an argument", None) if more else ("`;`", ";")
                    self.missing(child, wanted[0], "a directive", wanted[1])
                case "junk":
                    self.junk(child, "`;`", "a directive")
                case "," | ";":
                    pass
                case _:
                    arguments.append(self.operand(child))
        start, end = self._span(node)
        if name is None:
            name = linkage[-1]
        return nodes.Directive(start, end, tuple(linkage), name, tuple(arguments))

    def intermediate_location(self, node: Node) -> nodes.Directive:
        name, *numbers = parts_of(node)
        wanted, within = "a file index, a line and a column", "`.loc_intermediate`"
        found = tuple(self.count(number, wanted, within) for number in numbers)
        start, end = self._span(node)
        return nodes.Directive(start, end, (), self.name(name), found)

    def version(self, node: Node) -> nodes.Version:
        start, end = self._span(node)
        number = self.number(node.children[-1], "a version number such as `8.5`", "`.version`")
        return nodes.Version(start, end, number)

    def target(self, node: Node) -> nodes.Target:
        names: list[nodes.Name] = []
        for child in parts_of(node):
            if child.type == "identifier":
                names.append(self.name(child))
            elif child.type == "missing":
                self.missing(child, "a target such as `sm_90`", "`.target`")
        start, end = self._span(node)
        return nodes.Target(start, end, tuple(names))

    def address_size(self, node: Node) -> nodes.AddressSize:
        start, end = self._span(node)
        bits = self.number(node.children[-1], "`64` or `32`", "`.address_size`")
        return nodes.AddressSize(start, end, bits)

    def file(self, node: Node) -> nodes.File:
        start, end = self._span(node)
        parts = list(parts_of(node))
        index = self.count(parts[1], "a file index", "`.file`")
        path: nodes.String | nodes.Missing
        if parts[2].type == "missing":
            path = self.missing(parts[2], "a path in quotes", "`.file`")
        else:
            path = nodes.String(*self._span(parts[2]), self._text(parts[2]))
        numbers = [
            self.count(part, "a number", "`.file`") for part in parts[3:] if part.type != ","
        ]
        if len(numbers) > _FILE_NUMBERS:
            extra = numbers[_FILE_NUMBERS]
            self.problems.append(
                SyntaxProblem(extra.start, extra.end, "nothing after the size", "`.file`")
            )
        return nodes.File(start, end, index, path, tuple(numbers[:_FILE_NUMBERS]))

    def location(self, node: Node) -> nodes.Location:
        start, end = self._span(node)
        numbers: list[nodes.Number | nodes.Missing] = []
        attributes: list[nodes.LocationAttribute] = []
        for child in node.children:
            if child.type == "location_attribute":
                attributes.append(self.location_attribute(child))
            elif child.type in _COUNTS or (child.type == "missing" and len(numbers) < 3):
                numbers.append(
                    self.count(child, "a file index, a line and a column", "`.loc`")
                )
            elif child.type == "missing":
                self.missing(child, "`function_name` or `inlined_at`", "`.loc`")
        self.problems.extend(location_problems(attributes))
        return nodes.Location(
            start, end, numbers[0], numbers[1], numbers[2], tuple(attributes)
        )

    def location_attribute(self, node: Node) -> nodes.LocationAttribute:
        parts = list(parts_of(node))
        values: list[nodes.Name | nodes.Number] = []
        for part in parts[1:]:
            if part.type == "modifier" or (part.type == "identifier" and part.text != b"WARP_SZ"):
                values.append(self.name(part))
            elif part.type == "missing":
                self.missing(part, "a value", "`.loc`")
            elif part.type != "+":
                number = self.count(part, "a number", "`.loc`")
                if isinstance(number, nodes.Number):
                    values.append(number)
        start, end = self._span(node)
        return nodes.LocationAttribute(start, end, self.name(parts[0]), tuple(values))

    def section(self, node: Node) -> nodes.Section:
        name: nodes.Name | None = None
        labels: list[nodes.Name] = []
        types: dict[str, nodes.Name] = {}
        for child in node.children:
            match child.type:
                case "data":
                    word = _MODIFIER.match(self.text, child.start_byte)
                    if word is not None and word[0] not in types:
                        start, end = word.start() - self.base, word.end() - self.base
                        types[word[0]] = nodes.Name(start, end, word[0])
                    self.problems.extend(data_problems(child, self.text, self.base))
                case "modifier" | "identifier" | "string":
                    name = self.name(child)
                    if child.type != "modifier":
                        problem = SyntaxProblem(name.start, name.end, "a name with a dot", "a section")
                        self.problems.append(problem)
                case "label":
                    self.section_label(child)
                    labels.append(self.name(child.children[0]))
                case "missing" | "missing_brace":
                    wanted = "`}`" if child.type == "missing_brace" else "a name and `{`"
                    self.missing(child, wanted, "a section")
                case "junk":
                    self.junk(child, "data such as `.b8 1`", "a section")
                case _:
                    pass
        start, end = self._span(node)
        return nodes.Section(start, end, name, tuple(labels), tuple(types.values()))

    def section_label(self, node: Node) -> None:
        name = self.name(node.children[0])
        if name.text in RESERVED:
            self.problems.append(SyntaxProblem(name.start, name.end, "a label", "a section"))
        last = node.children[-1]
        if last.type == "missing":
            self.missing(last, "`:`", "a label", ":")
