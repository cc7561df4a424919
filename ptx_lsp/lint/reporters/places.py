"""Where tools outside are pointed to: paths as they know them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePath
from urllib.parse import quote

from ptx_lsp.lint.diagnostic import Origin
from ptx_lsp.lint.results.report import Locator, Mark, Reported
from ptx_lsp.text import Source, Span


def from_here(path: str) -> str:
    """A path with `/`, and without the current folder in front where it lies below it."""
    pure = PurePath(path)
    if pure.is_absolute() and pure.is_relative_to(Path.cwd()):
        pure = pure.relative_to(Path.cwd())
    return pure.as_posix()


def uri(path: str) -> tuple[str, bool]:
    """A reference to a file, and whether it counts from the current folder."""
    own = from_here(path)
    if PurePath(own).is_absolute():
        return "file://" + _quoted(own if own.startswith("/") else f"/{own}"), False
    return _quoted(os.path.normpath(own).replace(os.sep, "/")), True


def _quoted(path: str) -> str:
    return quote(path, errors="surrogateescape")


def in_tree(found: Reported) -> Origin | None:
    """The source line of a finding, if its file lies below the current folder: that of the user's own file,
    else the innermost.
    """
    lines = filter(None, (found.source_line, *found.source_lines))
    return next((one for one in lines if _is_below(one.path)), None)


def line_text(place: Origin) -> str:
    """A source line as people read it: `path:line:column`."""
    return f"{from_here(place.path)}:{place.line}:{place.column}"


def inlining(found: Reported) -> Iterator[str]:
    """The other source lines of a finding: of inlined code, and where it was inlined."""
    lines, own = found.source_lines, found.source_line
    for one in lines[: lines.index(own)] if own is not None else ():
        yield f"in code inlined from {line_text(one)}"
    for one in lines[lines.index(own) + 1 :] if own is not None else ():
        yield f"inlined at {line_text(one)}"


def source_mark(place: Origin, ptx: str) -> Mark | None:
    """The text at a source line, if its file can be read and lies below the current folder; a path that is
    not absolute may also be relative to the folder of the PTX file.
    """
    for path in dict.fromkeys((place.path, str(Path(ptx).parent / place.path))):
        if _is_below(path) and (locate := _opened(path)) is not None:
            source = locate.source
            if place.line > source.line_count:
                return None
            line = source.line_span(place.line - 1)
            at = min(line.start + place.column - 1, line.end)
            return locate.mark(Span(at, min(at + 1, line.end)))
    return None


def _is_below(path: str) -> bool:
    own = from_here(path)
    if PurePath(own).is_absolute() or not Path(own).is_file():
        return False
    return Path(own).resolve().is_relative_to(Path.cwd().resolve())


_LARGEST = 4 << 20


@lru_cache(maxsize=16)
def _opened(path: str) -> Locator | None:
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST)
    except OSError:
        return None
    return Locator(Source(data)) if b"\0" not in data else None
