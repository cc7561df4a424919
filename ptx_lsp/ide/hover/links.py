"""Links to the files that `.file` names, and to the lines that `.loc` names."""

from __future__ import annotations

from ptx_lsp.model.module import Module
from ptx_lsp.model.scope import integer
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item
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
    """All links of a file, in order."""
    paths = module.files
    found: list[Link] = []
    for item in module.document.items:
        if isinstance(item.node, nodes.File) and isinstance(item.node.path, nodes.String):
            path = item.node.path
            found.append(Link(item.span(path), path.text.strip('"')))
    for function in module.functions if paths else ():
        for statement in function.body.statements:
            if type(statement) is nodes.Location:
                link = _of_location(statement, paths, function.item)
                if link is not None:
                    found.append(link)
    return tuple(sorted(found))


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


def _number(value: nodes.Number | nodes.Missing) -> int | None:
    return integer(value.text) if isinstance(value, nodes.Number) else None
