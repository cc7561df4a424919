"""The report for programs; shared by every tool that reads it, so it only ever grows."""

from __future__ import annotations

from _json import encode_basestring_ascii as _text
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from ptx_lsp import __version__
from ptx_lsp.lint.results.report import (
    Compilation,
    Counts,
    FileReport,
    Kernel,
    Mark,
    Mending,
    Needed,
    Point,
    Reported,
)
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value] | None"


@reporter("json", "the complete report as JSON", has_kernels=True, is_once=True)
def json_report(run: Run) -> Iterator[str]:
    """The whole report; ASCII, indented, without a line end at its end."""
    counts = Counts()
    texts = (_indented(dumps(_file(file)), 2) for file in counts.counted(run.files))
    yield f'{{\n  "tool": {_indented(dumps({"name": "ptx-lint", "version": __version__}), 1)},'
    text = next(texts, None)
    if text is None:
        yield '  "files": [],'
    else:
        yield '  "files": ['
        for following in texts:
            yield f"    {text},"
            text = following
        yield f"    {text}\n  ],"
    summary = {
        "errors": counts.findings["error"],
        "warnings": counts.findings["warning"],
        "infos": counts.findings["info"],
        "hints": counts.findings["hint"],
        "files": counts.files,
        "unreadable": counts.unread,
        "fixed": counts.fixed,
    }
    yield f'  "summary": {_indented(dumps(summary), 1)}\n}}'


def _indented(text: str, level: int) -> str:
    """JSON as it is within so many objects and arrays; no text in it has a line end."""
    return text.replace("\n", "\n" + "  " * level)


def dumps(value: Value, indent: int | None = 2) -> str:
    """ASCII in which no service that reads what is printed finds a command (`style.without_commands`)."""
    text = _compact(value) if indent is None else _on_lines(value, "\n", " " * indent)
    return text.replace("##", "#\\u0023")  # in JSON, they stand in texts only


def _on_lines(value: Value, line: str, step: str) -> str:
    """JSON in which each entry has a line, as by `json.dumps`, which takes three times as long. `line` begins
    the line of the closing bracket.
    """
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, (bool, int, float)):
        return _compact(value)
    inner = line + step
    if isinstance(value, dict):
        entries = [
            f"{inner}{_text(key)}: {_text(one) if isinstance(one, str) else _on_lines(one, inner, step)}"
            for key, one in value.items()
        ]
        return f"{{{','.join(entries)}{line}}}" if entries else "{}"
    entries = [inner + _on_lines(one, inner, step) for one in value]
    return f"[{','.join(entries)}{line}]" if entries else "[]"


def _compact(value: Value) -> str:
    """JSON on one line."""
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float) and isfinite(value):
        return float.__repr__(value)
    import json  # slow to import

    return json.dumps(value)


_CONSTANTS = {None: "null", True: "true", False: "false"}


def _file(file: FileReport) -> Value:
    return {
        "path": file.path,
        **({"container": file.container, "member": file.member} if file.container is not None else {}),
        **({"language": file.language, "blocks": file.blocks} if file.language is not None else {}),
        "ptx_version": file.ptx_version,
        "target": file.target,
        "targets": file.targets,
        "diagnostics": [finding(found) for found in file.diagnostics],
        "kernels": [_kernel(kernel) for kernel in file.kernels],
        "requires": _needed(file.needed) if file.needed is not None else None,
        "error": file.error,
    }


def _needed(needed: Needed) -> Value:
    return {
        "target": needed.target,
        "ptx_version": needed.ptx_version,
        "targets": [
            {"target": target, "ptx_version": version} for target, version in needed.targets
        ],
        "because": [because._asdict() for because in needed.because],
    }


def finding(found: Reported) -> dict[str, Value]:
    """One finding."""
    return {
        "rule": found.rule,
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "start": _point(found.mark.start),
        "end": _point(found.mark.end),
        "related": [_related(mark) for mark in found.related],
        "fix": _fix(found.fix) if found.fix is not None else None,
        "source": found.source,
        "targets": found.targets,
        "notes": found.notes,
        "function": found.function or None,
        "origin": found.origin._asdict() if found.origin is not None else None,
        "inlined_at": [one._asdict() for one in found.inlined_at],
        "fingerprint": found.fingerprint,
        "alternatives": [_fix(one) for one in found.alternatives],
    }


def _related(mark: Mark) -> Value:
    return {"message": mark.message, "start": _point(mark.start), "end": _point(mark.end)}


def _point(point: Point) -> Value:
    return {"line": point.line, "column": point.column}


def _fix(fix: Mending) -> Value:
    return {
        "message": fix.message,
        "safe": fix.safe,
        "edits": [
            {"start": _point(change.start), "end": _point(change.end), "text": change.text}
            for change in fix.changes
        ],
    }


def _metadata(found: Compilation | None) -> Value:
    return {"compiler": found.compiler, "options": dict(found.options)} if found is not None else None


def _kernel(kernel: Kernel) -> Value:
    return {
        "name": kernel.name,
        "line": kernel.line,
        "target": kernel.target,
        "registers": kernel.registers._asdict(),
        "shared_bytes": kernel.shared_bytes,
        "dynamic_shared_bytes": kernel.dynamic_shared.size if kernel.dynamic_shared else None,
        "dynamic_shared_source": kernel.dynamic_shared.source if kernel.dynamic_shared else None,
        "local_bytes": kernel.local_bytes,
        "parameter_bytes": kernel.parameter_bytes,
        "threads_per_block": kernel.threads_per_block,
        "threads_source": kernel.threads_source,
        "cluster_size": kernel.cluster_size,
        "cluster_source": kernel.cluster_source,
        "metadata": _metadata(kernel.compilation),
        "occupancy": kernel.occupancy._asdict(),
        "branches": kernel.branches._asdict(),
        "instructions": dict(kernel.instructions),
        "measured": kernel.measured._asdict() if kernel.measured is not None else None,
    }
