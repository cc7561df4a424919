"""The files that `.file` names, as links, and the source lines that `.loc` names."""

from __future__ import annotations

from ptx_lsp.ide.cursor.cursor_context import CursorContext, cursor_context
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
from ptx_lsp.syntax.literals import integer
from ptx_lsp.text import Span


class Link(NamedTuple):
    """A link from the text at `span` to a line of `path`. Line and column count from 1; 0 if absent. A path
    may be relative to the folder of the PTX file.
    """

    span: Span
    path: str
    line: int = 0
    column: int = 0


def links(module: Module) -> tuple[Link, ...]:
    """The links of a file, in order. A `.loc` is not one: compilers write thousands, and editors underline
    each link.
    """
    found: list[Link] = []
    for item in module.document.items:
        if isinstance(item.node, nodes.File) and isinstance(item.node.path, nodes.String):
            path = item.node.path
            found.append(Link(item.span(path), path.text.strip('"')))
    return tuple(sorted(found))


def source_at(module: Module, offset: int) -> Link | str | None:
    """The source line of the `.loc`, of the `inlined_at` in it, or the file of the `.file` at `offset`. A
    text says why there is none; None if `offset` is elsewhere.
    """
    place = cursor_context(module, offset)
    if place is None:
        return None
    match place.statement:
        case nodes.File(path=nodes.String() as path):
            return Link(place.span(path), path.text.strip('"'))
        case nodes.Location() as location:
            return _at(place, location)
        case _:
            return None


def _at(place: CursorContext, location: nodes.Location) -> Link | str | None:
    """The attribute at the offset decides, if it is `inlined_at`; otherwise the `.loc` itself."""
    values: tuple[nodes.Name | nodes.Number | nodes.Missing, ...]
    values = location.file, location.line, location.column
    for attribute in location.attributes:
        span = place.span(attribute)
        if attribute.name.text == "inlined_at" and span.start <= place.offset <= span.end:
            values = attribute.values
    file, line, column = [_number(value) for value in (*values[:3], *[None] * (3 - len(values[:3])))]
    if file is None or line is None:
        return None
    path = place.module.files.get(file)
    if path is None:
        return f"no `.file` has the number {file}"
    if not line:
        return f"line 0: the compiler gives no source line of `{path}` for this code"
    return Link(place.span(location), path, line, column or 0)


def source_of(module: Module, item: Item, location: nodes.Location) -> str:
    """`a.cu:5:3`, for a `.loc` in `item`; empty if no `.file` has the number."""
    link = _of_location(location, module.files, item)
    return f"{link.path}:{link.line}:{link.column}" if link is not None else ""


def _of_location(location: nodes.Location, paths: dict[int, str], item: Item) -> Link | None:
    number, line = _number(location.file), _number(location.line)
    path = paths.get(number) if number is not None else None
    if path is None or line is None:
        return None
    end = max(item.span(location.line).end, item.span(location.column).end)
    span = Span(item.offset(location.file.start), end)
    return Link(span, path, line, _number(location.column) or 0)


def _number(value: nodes.Name | nodes.Number | nodes.Missing | None) -> int | None:
    return integer(value.text) if isinstance(value, nodes.Number) else None
