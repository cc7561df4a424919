"""Comments, and blanks between tokens."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.ide.cursor.tokens import tokens
from ptx_lsp.reduce.program import Program, walk
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span

_INDENT = b"    "
_MOST_INDENTED = 20
_CLOSING = b";,)"


@reduction_pass("comments", "text", 10)
def comments(program: Program) -> Iterator[Step]:
    """Deletes each comment, and each line for a preprocessor."""
    for token in tokens(program.module.document.source.text):
        if token.kind in ("comment", "preprocessor"):
            edit = program.delete(Span(token.start, token.end))
            is_line = edit.end > token.end or edit.start < token.start
            yield (edit if is_line else edit._replace(replacement=b" "),)


@reduction_pass("blanks", "text", 20, is_layout=True)
def blanks(program: Program) -> Iterator[Step]:
    """Puts each statement on a line of its own, and one blank where there are several."""
    breaks = _line_starts(program)
    edits: list[Edit] = []
    previous = 0
    data = program.data
    for token in tokens(program.module.document.source.text):
        gap = data[previous : token.start]
        depth = breaks.get(token.start)
        if depth is not None and previous:
            wanted = b"\n" + _INDENT * min(depth, _MOST_INDENTED)
        elif token.kind in ("comment", "preprocessor", "dwarf") or data[:previous].endswith(b"\n"):
            wanted = gap
        else:
            wanted = b" " if gap and previous and data[token.start] not in _CLOSING else b""
        ends_line = (
            previous and data[data.rfind(b"\n", 0, previous) + 1 : previous].find(b"//") >= 0
        )
        if gap != wanted and not ends_line:
            edits.append(Edit(previous, token.start, wanted))
        previous = token.end
    if data[previous:] != b"\n":
        edits.append(Edit(previous, len(data), b"\n"))
    yield tuple(edits)


def _line_starts(program: Program) -> dict[int, int]:
    """The offsets at which lines begin, with the depth of their indentation."""
    found = {item.start: 0 for item in program.module.document.items}
    for function in program.bodies:
        body = function.node.body
        if body is None:
            continue
        for node in walk(body):
            if isinstance(node, nodes.Block):
                depth = _depth(found, function.span(node).start)
                span = function.span(node)
                found.setdefault(span.start, depth)
                found[span.end - 1] = depth
                found.update({function.span(one).start: depth + 1 for one in node.statements})
    return found


def _depth(found: dict[int, int], start: int) -> int:
    return found.get(start, 0)
