"""The verdicts of ptxas on each directive's example at its lowest version and target, and below them.

python -m tests.isa.directive_verdicts          records the verdicts anew
"""

from __future__ import annotations

import json
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.isa.directives import DIRECTIVES, Directive
from ptx_lsp.isa.target import LATEST, TARGETS, VERSIONS, Target, Version, effective

RECORDED = Path(__file__).with_suffix(".json")
JUDGED = [row for row in DIRECTIVES.values() if row.is_accepted and row.name != "@@DWARF"]
"""ptxas 13.5 crashes on `@@DWARF` when it only parses."""


def judged(row: Directive, tool: Path) -> dict[str, str]:
    """The first error, or `accepted`, at each of the points that matter."""
    least = row.since.targets[0] if row.since.targets else None
    plain = [t for t in TARGETS if not t.suffix]
    target = least or min(t for t in plain if TARGETS[t] <= row.since.version)
    last = VERSIONS[VERSIONS.index(row.removed) - 1] if row.removed else LATEST
    found = {
        "at least version": _judge(row, row.since.version, target, tool),
        "at last version": _judge(row, last, target, tool),
    }
    older = [v for v in VERSIONS if effective(v) < row.since.version]
    if older:
        found["below version"] = _judge(row, older[-1], target, tool)
    if least is not None:
        lower = max(t for t in plain if t < least)
        found["below target"] = _judge(row, last, lower, tool)
    if row.removed is not None:
        found["once removed"] = _judge(row, row.removed, Target(13), tool)
    return found


def _judge(row: Directive, version: Version, target: Target, tool: Path) -> str:
    source = f".version {version}\n.target {target}\n{row.example}\n"
    report = ptxas.judge(source.encode(), ptxas=tool, arch="compute_90")
    errors = [m.text for m in report.messages if m.severity in ("error", "fatal")]
    named = [text for text in errors if f"'{row.feature}'" in text]
    return (named or errors or ["accepted"])[0]


def recorded() -> dict[str, dict[str, str]]:
    return json.loads(RECORDED.read_text())


if __name__ == "__main__":
    tool = ptxas.find()
    assert tool is not None, "no ptxas at hand"
    verdicts = {row.name: judged(row, tool) for row in JUDGED}
    RECORDED.write_text(json.dumps(verdicts, indent=1) + "\n")
