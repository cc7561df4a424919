"""Source files, as clients know them: by a path; those that they cannot read also by a number to ask for the
text.
"""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.debug.adapter.messages import Arguments, Json, Object
from ptx_lsp.debug.adapter.session import Handler, Session
from ptx_lsp.debug.program import Program, checked_path
from ptx_lsp.debug.request_error import RequestError


def ptx_source(made: Program) -> Object:
    """The PTX."""
    return _source(made, made.path)


def source_beside(made: Program, name: str) -> Object:
    """A source file that `.file` names."""
    return _source(made, made.beside(name))


def _source(made: Program, path: Path) -> Object:
    found: Object = {"name": path.name, "path": str(path)}
    held = list(made.held)
    return {**found, "sourceReference": held.index(str(path)) + 1} if str(path) in held else found


def path_of(made: Program, source: Arguments) -> str:
    """The path of the file that a client means. Neovim has a text that it asked for in a buffer whose name
    ends with its path. Raises RequestError if it cannot be a path.
    """
    path, number = checked_path(source.text("path")), source.number("sourceReference")
    for at, one in enumerate(made.held, 1):
        if number == at or path.endswith(f"/{one}"):
            return one
    return path


def source(session: Session, given: Arguments) -> Json:
    made, wanted = session.loaded, given.inner("source")
    number = given.number("sourceReference") or wanted.number("sourceReference")
    path = path_of(made, wanted)
    if number:
        path = list(made.held)[number - 1] if 0 < number <= len(made.held) else ""
    is_ptx = bool(path) and made.is_ptx(path)
    if not (is_ptx or path in made.held):
        raise RequestError(f"there is no source {number or path}")
    content = made.module.document.source.text if is_ptx else made.held[path]
    return {"content": content, **({"mimeType": "text/x-ptx"} if is_ptx else {})}


def loaded_sources(session: Session, given: Arguments) -> Json:
    """The PTX, and the files that it was compiled from."""
    made = session.loaded
    return {"sources": [ptx_source(made), *(source_beside(made, name) for name in made.sources)]}


HANDLERS: dict[str, Handler] = {"source": source, "loadedSources": loaded_sources}
