"""Annotations of GitHub Actions: `::error file=a.ptx,line=7,...::message` on standard output.

A finding is put on the source line that `.loc` names where that file is in the tree, else on the PTX line.
A member of a container is not a file of the repository: the annotation is for the container, and its text
names the line of the member.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.reporters.places import from_here, in_tree
from ptx_lsp.lint.results.report import FileReport, Reported
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.shown import groups
from ptx_lsp.lint.results.style import printable

_COMMANDS: dict[Severity, str] = {
    "error": "error", "warning": "warning", "info": "notice", "hint": "notice",
}


@reporter("github", "annotations for GitHub Actions", is_once=True)
def github(run: Run) -> Iterator[str]:
    """One line for each finding, and for each file that could not be checked."""
    for file in run.files:
        for one in groups(file, run.least):
            yield annotation(file, one.first, one.more)
        if file.error is not None:
            member = f" ({printable(from_here(file.path))})" if file.member is not None else ""
            message, path = f"{file.error}{member}", from_here(file.container or file.path)
            yield _line("error", {"file": path, "title": "ptx-lint"}, message)


def annotation(file: FileReport, found: Reported, more: str = "") -> str:
    """The line for one finding in a file; `more` is about others like it."""
    title = f"ptx-lint: {found.rule}"
    (line, column), (last, end) = found.mark.start, found.mark.end
    message = printable(found.text) + (f"; {more}" if more else "")
    source = in_tree(found)
    if source is not None or file.container is not None:
        place: dict[str, str | int] = {"file": from_here(file.container or file.path), "title": title}
        if source is not None:
            place = {"file": from_here(source.path), "line": source.line, "title": title}
        message += f" ({printable(from_here(file.path))}:{line}:{column})"
        return _line(_COMMANDS[found.severity], place, message)
    place = {"file": from_here(file.path), "line": line, "endLine": last, "title": title}
    if line == last:  # with more lines than one, columns mean nothing
        place |= {"col": column, "endColumn": max(column, end - 1)}
    return _line(_COMMANDS[found.severity], place, message)


def _line(command: str, properties: dict[str, str | int], message: str) -> str:
    parameters = ",".join(f"{name}={_property(printable(str(value)))}" for name, value in properties.items())
    return f"::{command} {parameters}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
