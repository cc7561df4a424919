"""Validation of operands beyond what the grammar expresses: what ptxas accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.problem import SyntaxProblem


def operand_problems(operand: nodes.Operand, within: str) -> Iterator[SyntaxProblem]:
    """The problems of one operand of an instruction, or of one value of an initialiser."""
    match operand:
        case nodes.Name() | nodes.Number() | nodes.Missing() | nodes.Pair():
            return
        case nodes.String():
            yield _problem(operand, "an operand (strings are not allowed)", within)
        case nodes.Relocation() if within == "an instruction":
            yield _problem(operand, "`,` before the `(`", within)
        case nodes.Address():
            for index, item in enumerate(operand.items):
                if isinstance(item, nodes.Vector) and index:
                    yield from _vector_problems(item, within)
                else:
                    yield from _address_problems(item, within)
        case nodes.Vector():
            yield from _vector_problems(operand, within)
        case nodes.Group():
            for item in operand.items:
                if isinstance(item, nodes.Member):
                    yield _problem(item.components[0], "`,` or `)`", within)
                else:
                    yield from _item_problems(item, within)
        case _:
            yield from _expression_problems(operand, within, first=True)


def _address_problems(item: nodes.Expression, within: str) -> Iterator[SyntaxProblem]:
    """The problems of one part of an address."""
    match item:
        case nodes.Address() | nodes.Vector():
            yield _problem(item, "an address without further brackets", within)
        case nodes.Member():
            yield _problem(item.components[0], "`]` or `+`", within)
        case nodes.Name(text="_"):
            yield _problem(item, "an address", within)
        case nodes.Unary(value=nodes.Name(text=text)) if text != "WARP_SZ":
            yield _problem(item.value, "a constant", within)
        case _:
            element = _leftmost(item)
            if isinstance(element, nodes.Element):
                start = element.array.end
                yield SyntaxProblem(start, element.end, "`]` or `+`", within)
            else:
                yield from _expression_problems(item, within, first=True)


def _leftmost(value: nodes.Expression) -> nodes.Expression:
    while isinstance(value, nodes.Binary):
        value = value.left
    return value


def _vector_problems(vector: nodes.Vector, within: str) -> Iterator[SyntaxProblem]:
    for item in vector.items:
        yield from _item_problems(item, within)


def _item_problems(item: nodes.Expression, within: str) -> Iterator[SyntaxProblem]:
    """The problems of an item of a vector or parenthesised list, where a name takes no sign or offset."""
    if isinstance(item, nodes.Vector | nodes.Address | nodes.Element | nodes.Pair):
        yield _problem(item, "a register or a constant", within)
        return
    base = _leftmost(item)
    if base is not item and isinstance(base, nodes.Name) and base.text != "WARP_SZ":
        yield SyntaxProblem(base.end, item.end, "nothing after a name", within)
        return
    yield from _expression_problems(item, within, first=isinstance(item, nodes.Name | nodes.Member))


def _expression_problems(
    value: nodes.Expression, within: str, first: bool
) -> Iterator[SyntaxProblem]:
    """`first`: a name is allowed here."""
    match value:
        case nodes.Name(text="WARP_SZ"):
            return
        case nodes.Name() | nodes.Member() | nodes.Element() if not first:
            yield _problem(value, "a constant", within)
        case nodes.Element():
            yield from _element_problems(value, within)
        case nodes.String():
            yield _problem(value, "an operand (strings are not allowed)", within)
        case nodes.Relocation() if within == "an instruction":
            yield _problem(value, "a constant or a name", within)
        case nodes.Member(object=nodes.Element()):
            yield _problem(value.components[0], "no component of an element", within)
        case nodes.Member() if len(value.components) > 1:
            yield _problem(value.components[1], "one component", within)
        case nodes.Unary(operator="-" | "!", value=nodes.Name() | nodes.Member()) if first:
            return  # `-a` and `!p`: the table checks where they are allowed
        case nodes.Unary():
            yield from _expression_problems(value.value, within, first=False)
        case nodes.Binary():
            yield from _binary_problems(value, within, first)
        case nodes.Conditional():
            yield from _expression_problems(value.condition, within, first)
            yield from _expression_problems(value.then, within, first=False)
            yield from _expression_problems(value.otherwise, within, first=False)
        case nodes.Cast():
            yield from _expression_problems(value.value, within, first=False)
        case nodes.Group():
            if len(value.items) != 1:
                yield _problem(value, "one value in parentheses", within)
            for item in value.items:
                yield from _expression_problems(item, within, first=False)
        case _:
            return


def _element_problems(value: nodes.Element, within: str) -> Iterator[SyntaxProblem]:
    first = value.indices[0]
    if value.array.text == "WARP_SZ":
        yield SyntaxProblem(value.array.end, value.end, "an operator or nothing after `WARP_SZ`", within)
    elif isinstance(_leftmost(first), nodes.Member | nodes.Element):
        yield _problem(first, "a constant or a register", within)
    else:
        yield from _expression_problems(first, within, first=True)
    for index in value.indices[1:]:
        yield _problem(
            index, "a single index (arrays are indexed as if they had one dimension)", within
        )


def _binary_problems(
    value: nodes.Binary, within: str, first: bool
) -> Iterator[SyntaxProblem]:
    left: nodes.Expression = value
    rights: list[nodes.Binary] = []
    while isinstance(left, nodes.Binary):
        rights.append(left)
        left = left.left
    innermost = rights[-1]
    if first and isinstance(left, nodes.Member | nodes.Element):
        what = "a component" if isinstance(left, nodes.Member) else "an element"
        yield SyntaxProblem(left.end, innermost.right.start, f"nothing after {what}", within)
    elif (
        first
        and isinstance(left, nodes.Name)
        and left.text != "WARP_SZ"
        and innermost.operator != "+"
    ):
        end = innermost.right.start
        wanted = "`+-`" if innermost.operator == "-" else "`+`"
        yield SyntaxProblem(left.end, end, f"{wanted} or nothing after a name", within)
    else:
        yield from _expression_problems(left, within, first)
    for part in reversed(rights):
        yield from _expression_problems(part.right, within, first=False)


def _problem(node: nodes.Expression, expected: str, within: str) -> SyntaxProblem:
    return SyntaxProblem(node.start, node.end, expected, within)


def location_problems(attributes: Sequence[nodes.LocationAttribute]) -> Iterator[SyntaxProblem]:
    """The problems after the numbers of a `.loc`, which allow nothing, or both attributes in the correct
    form.
    """
    within = "`.loc`"
    for number, attribute in enumerate(attributes):
        name = attribute.name
        wanted = _LOCATION[number] if number < len(_LOCATION) else "nothing more"
        if name.text != wanted:
            shown = f"`{wanted}`" if number < len(_LOCATION) else wanted
            yield SyntaxProblem(name.start, name.end, shown, within)
            return
        yield from _attribute_problems(attribute, within)
    if len(attributes) == 1:
        yield SyntaxProblem(attributes[0].end, attributes[0].end, "`, inlined_at`", within)


_LOCATION = ("function_name", "inlined_at")
_WORDS = frozenset({"_", "function_name", "inlined_at"})
"""Words that ptxas does not accept as names."""


def _attribute_problems(attribute: nodes.LocationAttribute, within: str) -> Iterator[SyntaxProblem]:
    values = attribute.values
    if attribute.name.text == "function_name":
        first = values[0] if values else None
        if first is None:
            return  # already reported where it is missing
        if not isinstance(first, nodes.Name) or first.text in _WORDS:
            yield SyntaxProblem(first.start, first.end, "a label of a `.section`", within)
        return
    if len(values) != 3:
        at = values[3] if len(values) > 3 else None
        start, end = (at.start, at.end) if at is not None else (attribute.end, attribute.end)
        yield SyntaxProblem(start, end, "a file index, a line and a column", within)
