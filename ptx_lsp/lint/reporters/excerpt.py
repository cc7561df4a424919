"""Source lines with marks under them, as they are shown in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.lint.results.report import Excerpt, Mark
from ptx_lsp.lint.results.style import Style, printable, width, without_commands
from ptx_lsp.named_tuple import NamedTuple

TAB = 4
_CUT = "..."


class Underline(NamedTuple):
    """A mark, with the sign and the colour that it is drawn in."""

    mark: Mark
    sign: str
    colour: str


class Drawn(NamedTuple):
    """A piece of a line as a terminal shows it, and the columns, from 0, that are marked in it."""

    text: str
    start: int
    end: int


def excerpts(
    underlines: Iterable[Underline], style: Style, columns: int, margin: int = 0
) -> Iterator[str]:
    """The lines of the marks in the order of the text, each mark under its line, within `columns`. Line
    numbers take at least `margin` of them.
    """
    ordered = sorted(underlines, key=lambda one: one.mark.start.line)
    if not ordered:
        return
    margin = max(margin, len(str(ordered[-1].mark.start.line)))
    gutter = style.paint(" " * margin + " |", "blue")
    yield gutter
    shown: tuple[int, str] | None = None
    for underline in ordered:
        line = underline.mark.start.line
        drawn = draw(underline.mark, columns - margin - 3)
        if shown is not None and line > shown[0] + 1:
            yield style.paint("." * 3, "blue")
        if (line, drawn.text) != shown:
            yield f"{style.paint(f'{line:{margin}} |', 'blue')} {drawn.text}".rstrip()
            shown = line, drawn.text
        signs = underline.sign * max(1, drawn.end - drawn.start)
        word = f" {printable(underline.mark.message)}" if underline.mark.message else ""
        yield f"{gutter} {' ' * drawn.start}{style.paint(signs + word, underline.colour)}"


def draw(mark: Mark, columns: int) -> Drawn:
    """The marked part of a line, cut so that it takes `columns` at most.

    Tabs become blanks up to the next multiple of `TAB`; wide characters count as two columns.
    """
    excerpt = mark.excerpt
    first = max(0, mark.start.column - excerpt.first)
    last = len(excerpt.text)
    if mark.end.line == mark.start.line:
        last = min(last, mark.end.column - excerpt.first)
    before = _expanded(excerpt.text[:first], 0)
    marked = _expanded(excerpt.text[first:last].rstrip(), width(before))
    after = _expanded(excerpt.text[last:].rstrip(), width(before) + width(marked))
    drawn = _cut(before, marked, after, excerpt, max(20, columns))
    return drawn._replace(text=without_commands(drawn.text))


def _cut(before: str, marked: str, after: str, excerpt: Excerpt, columns: int) -> Drawn:
    """The marked part comes first, then a third of what is left goes to what stands before it."""
    left_out = excerpt.first > 1
    if not left_out and not excerpt.more and width(before) + width(marked) + width(after) <= columns:
        start = width(before)
        return Drawn(before + marked + after, start, start + width(marked))
    room = columns - 2 * len(_CUT)
    marked = _first(marked, room)
    left = _last(before, max(room // 3, room - width(marked) - width(after)))
    marked = _first(marked, room - width(left))
    right = _first(after, room - width(left) - width(marked))
    head = _CUT if left_out or left != before else ""
    tail = _CUT if excerpt.more or right != after else ""
    start = width(head) + width(left)
    return Drawn(head + left + marked + right + tail, start, start + width(marked))


def _expanded(text: str, column: int) -> str:
    """`text`, which begins at `column`, without tabs and control characters."""
    if text.isprintable():
        return text
    first, *others = map(printable, text.split("\t"))
    expanded = [first]
    column += width(first)
    for other in others:
        blanks = TAB - column % TAB
        expanded.append(" " * blanks + other)
        column += blanks + width(other)
    return "".join(expanded)


def _first(text: str, columns: int) -> str:
    if text.isascii():
        return text[:columns]
    used = 0
    for index, character in enumerate(text):
        used += width(character)
        if used > columns:
            return text[:index]
    return text


def _last(text: str, columns: int) -> str:
    return _first(text[::-1], columns)[::-1]
