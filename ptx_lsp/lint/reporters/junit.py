"""JUnit XML: one suite per file, one failed test per finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from ptx_lsp.lint.reporters.places import line_text
from ptx_lsp.lint.results.report import FileReport, Reported, count
from ptx_lsp.lint.results.reporter import Run, reporter

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@reporter("junit", "JUnit XML: one suite per file, one failed test per finding")
def junit(run: Run) -> Iterator[str]:
    """The whole report. A file without findings is one test that passes."""
    failures = sum(count(run.files).values())
    errors = sum(file.error is not None for file in run.files)
    tests = sum(_tests(file) for file in run.files)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<testsuites name="ptx-lint" tests="{tests}" failures="{failures}" errors="{errors}">'
    for file in run.files:
        yield from _suite(file)
    yield "</testsuites>"


def _suite(file: FileReport) -> Iterator[str]:
    name = _attribute(file.path)
    failed = file.error is not None
    yield (
        f'  <testsuite name={name} package="ptx-lint" tests="{_tests(file)}" '
        f'failures="{len(file.diagnostics)}" errors="{int(failed)}">'
    )
    if file.error is not None:
        yield f"    <testcase classname={name} name=\"readable\">"
        yield f"      <error type=\"unreadable\" message={_attribute(file.error)}/>"
        yield "    </testcase>"
    elif not file.diagnostics:
        yield f"    <testcase classname={name} name=\"ptx-lint\"/>"
    for found in file.diagnostics:
        yield from _case(name, found)
    yield "  </testsuite>"


def _case(suite: str, found: Reported) -> Iterator[str]:
    line, column = found.mark.start
    source = found.source_line
    origin = f"{line_text(source)}; PTX " if source is not None else ""
    name = _attribute(f"{found.rule}:{line}:{column}")
    yield f'    <testcase classname={suite} name={name}>'
    yield (
        f'      <failure type="{found.severity}" message={_attribute(found.text)}>'
        f"{_text(f'{origin}line {line}, column {column}: {found.mark.excerpt.text.strip()}')}</failure>"
    )
    yield "    </testcase>"


def _tests(file: FileReport) -> int:
    return max(1, len(file.diagnostics))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
