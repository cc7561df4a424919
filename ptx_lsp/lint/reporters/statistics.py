"""How many findings each rule has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.results.style import SEVERITY_COLOURS, printable


@reporter("statistics", "findings per rule, and how many have a fix")
def statistics(run: Run) -> Iterator[str]:
    """The lines of the report, the most frequent rule first."""
    findings = [found for file in run.files for found in file.diagnostics]
    counts = Counter((found.code, found.rule, found.severity) for found in findings)
    fixes = Counter(found.rule for found in findings if found.fix is not None)
    size = max((len(str(count)) for count in counts.values()), default=0)
    for (code, rule, severity), count in sorted(counts.items(), key=lambda row: (-row[1], row[0])):
        name = run.style.paint(f"{severity}[{rule}]", SEVERITY_COLOURS[severity])
        fixable = f" ({fixes[rule]} with a fix)" if fixes[rule] else ""
        yield f"{count:{size}}  {code:5}  {name}{fixable}"
    yield from (printable(remark) for remark in run.remarks)
