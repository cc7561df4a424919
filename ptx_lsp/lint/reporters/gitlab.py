"""The code quality report of GitLab: an artifact of the kind `codequality`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.reporters.json import Value, dumps
from ptx_lsp.lint.reporters.markdown import inert
from ptx_lsp.lint.reporters.places import from_here, line_text
from ptx_lsp.lint.results.report import FileReport, Reported
from ptx_lsp.lint.results.reporter import Run, reporter

_SEVERITIES: dict[Severity, str] = {
    "error": "critical", "warning": "major", "info": "minor", "hint": "info",
}


@reporter("gitlab", "a code quality report for GitLab")
def gitlab(run: Run) -> Iterator[str]:
    """The whole report."""
    rows = [_row(file, found) for file in run.files for found in file.diagnostics]
    rows += [_failure(file, file.error) for file in run.files if file.error is not None]
    yield dumps(rows)


def _row(file: FileReport, found: Reported) -> Value:
    path, source = from_here(file.path), found.source_line
    origin = f" ({line_text(source)})" if source is not None else ""
    return {
        "description": inert(found.text + origin),
        "check_name": found.rule,
        "fingerprint": _fingerprint(path, found.fingerprint),
        "severity": _SEVERITIES[found.severity],
        "location": {
            "path": path,
            "positions": {
                "begin": found.mark.start._asdict(),
                "end": found.mark.end._asdict(),
            },
            "lines": {"begin": found.mark.start.line},
        },
    }


def _failure(file: FileReport, error: str) -> Value:
    path = from_here(file.path)
    return {
        "description": error,
        "check_name": "unreadable",
        "fingerprint": _fingerprint(path, "unreadable"),
        "severity": "blocker",
        "location": {"path": path, "lines": {"begin": 1}},
    }


def _fingerprint(path: str, own: str) -> str:
    """GitLab tells findings apart by this alone, so the path is in it."""
    return hashlib.sha256(f"{path}\0{own}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
