"""Writes located messages for people, for programs and for GitHub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from ptx_lsp import __version__, ptxas
from ptx_lsp.cli.blame.located import Located
from ptx_lsp.demangler import demangled
from ptx_lsp.lint.configuration.selection import PTXAS
from ptx_lsp.lint.diagnostic import SEVERITIES, Severity
from ptx_lsp.lint.reporters.full import finding_lines
from ptx_lsp.lint.reporters.github import annotation
from ptx_lsp.lint.reporters.json import Value
from ptx_lsp.lint.reporters.places import from_here
from ptx_lsp.lint.results.report import Excerpt, FileReport, Mark, Mending, Point, Reported
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, Style, printable
from ptx_lsp.named_tuple import NamedTuple

Format = Literal["full", "json", "github"]


class Figures(NamedTuple):
    """The measurements of one kernel for one target."""

    name: str
    target: str
    resources: ptxas.Resources


def kernels(lines: Sequence[str]) -> list[Figures]:
    """The figures in lines of `ptxas -v`."""
    groups: list[list[str]] = []
    for line in lines:
        if "Compiling entry function" in line or not groups:
            groups.append([])
        groups[-1].append(line)
    found: list[Figures] = []
    for group in groups:
        for name, resources in ptxas.read("\n".join(group), accepted=True).kernels.items():
            found.append(Figures(name, group[0].rpartition(" for '")[2].rstrip("'"), resources))
    return found


def text(located: Located, style: Style, columns: int) -> Iterator[str]:
    """The lines for people."""
    found = _reported(located)
    if located.mark is not None:
        yield from finding_lines(from_here(located.path), found, style, columns)
        return
    yield f"{style.paint(f'{found.severity}[{PTXAS}]', SEVERITY_COLOURS[found.severity])}" + style.paint(
        f": {printable(found.message)}", "bold"
    )
    place = _written(located)
    if place:
        yield f" {style.paint('-->', 'blue')} {printable(place)}"
    for note in found.notes:
        yield f" {style.paint(' =', 'blue')} {style.paint('note:', 'bold')} {printable(note)}"


def github(located: Located) -> str:
    """The annotation for GitHub Actions."""
    found = _reported(located)
    if located.mark is None:
        path, line = located.path or located.message.path, located.line or located.message.line or 1
        mark = Mark(Point(line, 1), Point(line, 1), Excerpt(1, "", more=False))
        return annotation(FileReport(path or PTXAS), found._replace(mark=mark))
    because = [one.message for one in located.findings] or [located.meaning]
    whole = "; ".join([found.message, *filter(None, because)])
    return annotation(FileReport(located.path), found._replace(message=whole))


def row(located: Located, repeats: int) -> dict[str, Value]:
    """One message in JSON."""
    message, mark, ptx = located.message, located.mark, located.ptx
    return {
        "severity": message.severity,
        "message": message.text,
        "program": message.program,
        "log_line": message.log_line,
        "named": {"path": message.path, "line": message.line} if message.path else None,
        "repeats": repeats,
        "how": located.how,
        "path": located.path or None,
        "start": _point(mark.start) if mark is not None else _known(located),
        "end": _point(mark.end) if mark is not None else None,
        "function": located.function or None,
        "loc": [{**one.place._asdict(), "function": one.function or None} for one in located.calls],
        "ptx": ptx._asdict() if ptx is not None else None,
        "meaning": located.meaning or None,
        "notes": located.notes,
        "findings": [one._asdict() for one in located.findings],
    }


def whole(
    located: Sequence[Located], repeats: Counter[tuple[object, ...]], figures: Sequence[Figures]
) -> Value:
    """The report in JSON."""
    counts = count(located)
    return {
        "tool": {"name": "ptx-lint", "version": __version__},
        "messages": [row(one, repeats[one.key]) for one in located],
        "kernels": [
            {"name": one.name, "target": one.target or None, **_measured(one.resources)} for one in figures
        ],
        "summary": {
            "errors": counts["error"], "warnings": counts["warning"], "infos": counts["info"],
            "repeats": repeats.total(),
        },
    }


def count(located: Sequence[Located]) -> Counter[Severity]:
    """The number of messages per severity."""
    return Counter(one.message.severity for one in located)


def summary(counts: Counter[Severity], repeats: int, style: Style) -> str:
    """The last line."""
    if not counts:
        return style.paint("The log has no messages of ptxas.", "green")
    words = ", ".join(
        f"{counts[one]} {one}{'' if counts[one] == 1 else 's'}" for one in SEVERITIES if counts[one]
    )
    again = f"; {repeats} repeated for other kernels or targets" if repeats else ""
    worst = next(one for one in SEVERITIES if counts[one])
    return style.paint(f"ptxas reported {words}{again}.", SEVERITY_COLOURS[worst])


def table(figures: Sequence[Figures]) -> Iterator[str]:
    """The measured resources of kernels."""
    names = demangled([one.name for one in figures])
    for name, target, used in figures:
        parts = [f"{used.registers} registers"] if used.registers is not None else []
        parts += [f"{used.spill_store_bytes} bytes spilled"] if used.spill_store_bytes else []
        parts += [f"{used.stack_bytes} bytes stack"] if used.stack_bytes else []
        parts += [f"{used.shared_bytes} bytes shared"] if used.shared_bytes else []
        of = f" ({target})" if target else ""
        yield f"{printable(names.get(name, name))}{of}: {', '.join(parts)} (measured)"


def _reported(located: Located) -> Reported:
    message = located.message
    help = next((one.help for one in located.findings if one.help), "")
    mark = located.mark or Mark(Point(1, 1), Point(1, 1), Excerpt(1, "", more=False))
    return Reported(
        PTXAS, PTXAS, message.severity, message.text, mark,
        fix=Mending(help, True, ()) if help else None,
        source=PTXAS, notes=tuple(_notes(located)), function=located.function,
    )


def _notes(located: Located) -> Iterator[str]:
    for one in located.findings:
        yield f"{one.message} ({one.code} {one.rule})"
    if located.meaning and not located.findings:
        yield located.meaning
    if located.calls and located.calls[0].function:
        yield f"in `{located.calls[0].function}`"
    for call in located.calls[1:]:
        place = f"{from_here(call.place.path)}:{call.place.line}:{call.place.column}"
        yield f"inlined at {place}{f' in `{call.function}`' if call.function else ''}"
    if located.function:
        yield f"in kernel or function `{located.function}`"
    if located.ptx is not None and located.how != "ptx":
        yield f"PTX: {from_here(located.ptx.name)}:{located.ptx.line}: `{located.ptx.statement}`"
    yield from located.notes


def _written(located: Located) -> str:
    message, path = located.message, from_here(located.path) if located.path else ""
    if path:
        return f"{path}:{located.line}:{located.column}" if located.line else path
    return f"{message.path}:{message.line}" if message.path and message.line else message.path


def _point(point: Point) -> Value:
    return {"line": point.line, "column": point.column}


def _known(located: Located) -> Value:
    return {"line": located.line, "column": located.column} if located.line else None


def _measured(used: ptxas.Resources) -> dict[str, Value]:
    return {
        "registers": used.registers, "shared_bytes": used.shared_bytes, "stack_bytes": used.stack_bytes,
        "spill_store_bytes": used.spill_store_bytes, "spill_load_bytes": used.spill_load_bytes,
    }
