"""Reports of launches as lines on standard error."""

from __future__ import annotations

import sys

from ptx_lsp.cuda.launches import LaunchReport
from ptx_lsp.executor.launching.finding_text import finding_lines, grouped, of_error
from ptx_lsp.lint.results.style import at_line_start, printable

_LONG = 60
"""Characters of the name of a kernel: Numba's have the types of all arguments."""


def print_report(report: LaunchReport) -> None:
    """Prints findings, each with its line of the PTX."""
    findings = report.findings
    if not findings and report.error is not None:
        findings = (of_error(report.error),)
    lines = report.text.splitlines()
    for finding, others in grouped(findings):
        first, *more = finding_lines(finding, report.module, others)
        print(at_line_start(first), file=sys.stderr)
        for number in dict.fromkeys((finding.line, finding.other_line)):
            if 0 < number <= len(lines):
                print(printable(f"  {number} | {lines[number - 1].strip()}"), file=sys.stderr)
        kernel = report.kernel if len(report.kernel) <= _LONG else f"{report.kernel[:_LONG]}..."
        for line in (*more, f"  kernel `{kernel}`, grid {report.grid}, block {report.block}"):
            print(printable(line), file=sys.stderr)
