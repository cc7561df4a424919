"""The text of string expressions in Python: literals, and how they are put together."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ptx_lsp.embedded.mapped_text import Builder, MappedText
from ptx_lsp.embedded.python_literals import add_text, encoder, literal_parts, unwritable
from ptx_lsp.embedded.python_names import PythonNames
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_DEEP: Final = 12
_MOST_ALTERNATIVES: Final = 16
_UNCHANGED: Final = (b"strip", b"lstrip", b"rstrip", b"encode", b"dedent", b"cleandoc")
"""Functions whose result differs in spaces only."""
_LOOPS: Final = ("generator_expression", "list_comprehension")


class Part(NamedTuple):
    """An expression of a text that statements put together."""

    node: Node
    is_certain: bool = True
    """Whether it depends on no branch or loop."""


class Alternative(NamedTuple):
    """An expression that a name may stand for, or several to join."""

    parts: tuple[Part, ...]
    block: Node | None = None
    """The statements among which the name is bound."""


class PythonStrings:
    """Reads the string expressions of a module. What is unknown becomes a hole."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.names = PythonNames()

    def alternatives(self, node: Node, depth: int = 0) -> list[Alternative]:
        """The expressions that the value of `node` may come from: itself, unless it is a name or a choice."""
        if depth > _MOST_DEEP:
            return []
        inner = _unwrapped(node)
        found: list[Alternative] = []
        match inner.type:
            case "identifier":
                found = self._of_name(inner, depth)
            case "conditional_expression":
                for branch in (inner.named_children[0], inner.named_children[-1]):
                    found += self.alternatives(branch, depth + 1)
            case "subscript":
                for value in self._of_dictionary(inner):
                    found += self.alternatives(value, depth + 1)
            case _:
                found = [Alternative((Part(inner),))]
        return found[:_MOST_ALTERNATIVES]

    def _of_name(self, name: Node, depth: int) -> list[Alternative]:
        bindings = self.names.reaching(name)
        added = [one for one in bindings if one.kind == "added"]
        values = [one for one in bindings if one.kind == "value"]
        found: list[Alternative] = []
        for binding in values:
            block = binding.statement.parent
            found += [
                one._replace(block=block) for one in self.alternatives(binding.value, depth + 1)
            ]
        if added and found:
            if len(found) > 1 or len(values) < len(bindings) - len(added):
                return []
            block = found[0].block
            kept = [one for one in added if not _is_alternative(one.statement)]
            more = tuple(Part(one.value, one.statement.parent == block) for one in kept)
            found = [found[0]._replace(parts=found[0].parts + more)]
        return found

    def _of_dictionary(self, subscript: Node) -> list[Node]:
        base = subscript.child_by_field_name("value")
        if base is not None and base.type == "identifier":
            base = self.names.value(base)
        if base is None or base.type != "dictionary":
            return []
        values = (
            one.child_by_field_name("value") for one in base.named_children if one.type == "pair"
        )
        return [one for one in values if one is not None]

    def text(self, parts: tuple[Part, ...], has_statements: bool = True) -> MappedText | None:
        """The text of expressions; None if there is no literal in them. Without `has_statements` each hole is
        a name.
        """
        reading = _Reading(self.data, self.names, parts[0].node if len(parts) == 1 else None)
        builder = Builder(reading.holes, has_statements)
        for part in parts:
            if part.is_certain:
                reading.add(builder, part.node, None)
            else:
                reading.add_statements(builder, part.node, None, part.node)
        return builder.text() if reading.has_literal else None

    def formatted(self, node: Node, is_percent: bool) -> MappedText | None:
        """The text of a template that is formatted elsewhere, with `format` or with `%`."""
        reading = _Reading(self.data, self.names, None)
        builder = Builder(reading.holes, has_statements=False)
        pattern = _CONVERSION if is_percent else _FIELD
        reading.add_template(
            builder, node, None, pattern, _percent([]) if is_percent else _fields([])
        )
        return builder.text() if reading.has_literal else None


def _unwrapped(node: Node) -> Node:
    """An expression without parentheses, and without functions that leave its text."""
    while True:
        if node.type == "parenthesized_expression" and node.named_children:
            inner = next((one for one in node.named_children if one.type != "comment"), None)
        elif node.type == "call":
            inner = _unchanged(node)
        elif node.type == "string":
            inner = _only_interpolated(node)
        else:
            return node
        if inner is None:
            return node
        node = inner


def _only_interpolated(string: Node) -> Node | None:
    """The expression of a literal that has nothing else, as `f"{x}"`."""
    if len(string.children) != 3 or string.children[1].type != "interpolation":
        return None
    only = string.children[1]
    return only.child_by_field_name("expression") if len(only.children) == 3 else None


def _unchanged(call: Node) -> Node | None:
    """The argument of a function that leaves its text."""
    function = call.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    if function is None or arguments is None:
        return None
    passed = [one for one in arguments.named_children if one.type != "comment"]
    name = function.child_by_field_name("attribute") if function.type == "attribute" else function
    if name is None or name.text not in _UNCHANGED:
        return None
    if name.text in (b"dedent", b"cleandoc"):
        return passed[0] if len(passed) == 1 else None
    if passed and name.text != b"encode":
        return None
    return function.child_by_field_name("object")


def _is_alternative(statement: Node) -> bool:
    """Whether a statement is in the second branch of a condition."""
    above: Node | None = statement
    while above is not None and above.type not in ("function_definition", "module"):
        if above.type in ("elif_clause", "else_clause"):
            return True
        above = above.parent
    return False


_FIELD = lazy_pattern(
    rb"(?P<escaped>\{\{|\}\})|\{(?P<name>\w*)(?P<rest>[^{}:!]*)(?P<format>[!:][^{}]*(?:\{[^{}]*\}[^{}]*)*)?\}"
)
_CONVERSION = lazy_pattern(
    rb"%(?:\((?P<name>[^)]*)\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(?P<letter>[diouxXeEfFgGcrsa%])"
)


class _Reading:
    """Adds the texts of expressions to builders. Inside of a name, `at` is the place of the name; what
    `whole` formats may have another place than it.
    """

    def __init__(self, data: bytes, names: PythonNames, whole: Node | None) -> None:
        self._data = data
        self._names = names
        self._whole = whole
        self._depth = 0
        self.holes: dict[bytes, int] = {}
        self.has_literal = False

    def add(self, builder: Builder, node: Node, at: Span | None) -> None:
        """Adds the text of an expression, or a hole."""
        self._depth += 1
        if self._depth > _MOST_DEEP or not self._added(builder, node, at):
            self._add_hole(builder, node, at)
        self._depth -= 1

    def _add_hole(self, builder: Builder, node: Node, at: Span | None) -> None:
        span = Span(node.start_byte, node.end_byte)
        builder.hole(self._data[slice(*span)], at or span, unwritable)

    def _added(self, builder: Builder, node: Node, at: Span | None) -> bool:
        match node.type:
            case "string":
                self._add_literal(builder, node, at)
            case "concatenated_string" | "parenthesized_expression":
                for child in node.named_children:
                    if child.type != "comment":
                        self.add(builder, child, at)
            case "binary_operator":
                return self._added_operation(builder, node, at)
            case "call":
                return self._added_call(builder, node, at)
            case "conditional_expression":
                return self.add_statements(builder, node.named_children[0], at, node)
            case "identifier":
                value = self._names.value(node)
                if value is None or value.type not in ("string", "concatenated_string", "integer"):
                    return False
                self.add(builder, value, at or Span(node.start_byte, node.end_byte))
            case "integer":
                if at is None:
                    return False
                builder.add(node.text or b"", at, "replaced", unwritable)
            case _:
                return False
        return True

    def _add_literal(self, builder: Builder, node: Node, at: Span | None) -> None:
        self.has_literal = True
        kind, parts = literal_parts(node)
        encode = encoder(kind)
        for part in parts:
            if not isinstance(part, Span):
                self._add_interpolated(builder, part, at)
            elif at is None:
                add_text(builder, self._data, part, kind, encode)
            else:
                inner = Builder()
                add_text(inner, self._data, part, kind, encode)
                builder.add(inner.text().data, at, "replaced", unwritable)

    def _add_interpolated(self, builder: Builder, node: Node, at: Span | None) -> None:
        expression = node.child_by_field_name("expression")
        place = at or Span(node.start_byte, node.end_byte)
        is_plain = len(node.children) == 3
        if is_plain and expression is not None and expression.type in ("identifier", "integer"):
            self.add(builder, expression, place)
        else:
            self._add_hole(
                builder, expression if is_plain and expression is not None else node, place
            )

    def _added_operation(self, builder: Builder, node: Node, at: Span | None) -> bool:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return False
        if operator.text == b"+":
            for term in _terms(node):
                self.add(builder, term, at)
            return True
        if operator.text == b"%":
            elements = right.named_children if right.type == "tuple" else [right]
            return self.add_template(builder, left, at, _CONVERSION, _percent(elements))
        return False

    def _added_call(self, builder: Builder, node: Node, at: Span | None) -> bool:
        inner = _unchanged(node)
        if inner is not None:
            self.add(builder, inner, at)
            return True
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type != "attribute":
            return False
        base, name = (
            function.child_by_field_name("object"),
            function.child_by_field_name("attribute"),
        )
        passed = [one for one in arguments.named_children if one.type != "comment"]
        if base is None or name is None:
            return False
        if name.text == b"format":
            return self.add_template(builder, base, at, _FIELD, _fields(passed))
        if name.text == b"join" and base.type == "string":
            if arguments.type in _LOOPS:
                return self._added_loop(builder, arguments, at)
            return len(passed) == 1 and self._added_join(builder, base, passed[0], at)
        return False

    def _added_join(self, builder: Builder, separator: Node, items: Node, at: Span | None) -> bool:
        if items.type in _LOOPS:
            return self._added_loop(builder, items, at)
        if items.type not in ("list", "tuple"):
            return False
        between = Builder()
        self.add(between, separator, Span(separator.start_byte, separator.end_byte))
        end: int | None = None
        for item in items.named_children:
            if item.type == "comment":
                continue
            if end is not None:
                builder.add(
                    between.text().data, at or Span(end, item.start_byte), "replaced", unwritable
                )
            self.add(builder, item, at)
            end = item.end_byte
        return True

    def _added_loop(self, builder: Builder, loop: Node, at: Span | None) -> bool:
        """Adds what a loop writes once, if these are statements."""
        return bool(loop.named_children) and self.add_statements(
            builder, loop.named_children[0], at, loop
        )

    def add_statements(self, builder: Builder, node: Node, at: Span | None, whole: Node) -> bool:
        """Adds statements that may be there or not, or several times, with a hole for what else there is."""
        if not builder.is_between_statements:
            return False
        inner = Builder(self.holes)
        self.add(inner, node, at)
        text = inner.text()
        self._add_hole(builder, whole, at or Span(node.start_byte, node.start_byte))
        if b";" in text.data:
            builder.append(text)
        return True

    def add_template(
        self,
        builder: Builder,
        template: Node,
        at: Span | None,
        pattern: re.Pattern[bytes],
        replaced: Callable[[re.Match[bytes]], bytes | Node | None],
    ) -> bool:
        """Adds a template with what its fields stand for."""
        inner = Builder(self.holes, has_statements=False)
        if template.type == "identifier" and at is None and template.parent is not None:
            value = self._names.value(template)
            is_whole = self._whole in (template.parent, template.parent.parent)
            if value is not None and is_whole and value.type in ("string", "concatenated_string"):
                template = value
        self.add(inner, template, at)
        text = inner.text()
        last = 0
        for match in pattern.finditer(text.data):
            builder.append(text.slice(Span(last, match.start())))
            last = match.end()
            place = text.host_span(Span(*match.span()))
            new = replaced(match)
            if isinstance(new, bytes):
                builder.add(new, place, "replaced", unwritable)
            elif new is not None:
                self.add(builder, new, place)
            else:
                builder.hole(match[0], place, unwritable)
        builder.append(text.slice(Span(last, len(text.data))))
        return True


def _terms(node: Node) -> list[Node]:
    """The terms of a sum."""
    found: list[Node] = []
    left: Node | None = node
    while left is not None:
        operator = left.child_by_field_name("operator")
        right = left.child_by_field_name("right")
        if (
            left.type != "binary_operator"
            or operator is None
            or operator.text != b"+"
            or right is None
        ):
            found.append(left)
            break
        found.append(right)
        left = left.child_by_field_name("left")
    return found[::-1]


def _percent(elements: list[Node]) -> Callable[[re.Match[bytes]], bytes | Node | None]:
    rest = iter(elements)

    def replaced(match: re.Match[bytes]) -> bytes | Node | None:
        if match["letter"] == b"%":
            return b"%"
        return next(rest, None) if match["name"] is None else None

    return replaced


def _fields(passed: list[Node]) -> Callable[[re.Match[bytes]], bytes | Node | None]:
    named = {
        name.text: one.child_by_field_name("value")
        for one in passed
        if one.type == "keyword_argument" and (name := one.child_by_field_name("name")) is not None
    }
    positional = [one for one in passed if one.type != "keyword_argument"]
    rest = iter(positional)

    def replaced(match: re.Match[bytes]) -> bytes | Node | None:
        if match["escaped"] is not None:
            return match["escaped"][:1]
        if match["rest"] or match["format"]:
            return None
        name = match["name"]
        if not name:
            return next(rest, None)
        if name.isdigit():
            return positional[int(name)] if int(name) < len(positional) else None
        return named.get(name)

    return replaced
