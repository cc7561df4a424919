"""Problems that stop a kernel: findings of the checks, and errors. Their kinds, and the threads involved."""

from __future__ import annotations

from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane
from ptx_lsp.finding_kinds.registry import KINDS

_LABELS = {
    "race": "Data races", "uninitialised": "Uninitialised values", "out-of-bounds": "Accesses out of bounds",
    "divergence": "Barriers in divergent code", "other": "Other findings",
}  # fmt: skip
FILTERS = {
    filter: (label, frozenset(one.name for one in KINDS.values() if one.filter == filter))
    for filter, label in _LABELS.items()
}
"""Of what the checks find. A kernel that fails always stops."""


def finding_of(problem: Finding | ExecutionError) -> Finding:
    """A problem as a finding."""
    if isinstance(problem, Finding):
        return problem
    made = Finding(problem.kind, str(problem), problem.line, lanes=problem.lanes)
    return next((one for one in problem.findings[::-1] if one.line == problem.line), made)


def witness(finding: Finding) -> str:
    """The lanes of a finding with their lines: of a race both accesses."""
    source = f" ({finding.source})" if finding.source else ""
    found = [f"line {finding.line}{source}: {_threads(finding.lanes)}"]
    if finding.other_line:
        other = _threads((finding.other_lane,)) if finding.other_lane is not None else "another thread"
        found.append(f"line {finding.other_line}: {other}")
    if finding.address is not None:
        named = f" in `{finding.variable}`" if finding.variable else ""
        found.append(f"{finding.space} address {finding.address:#x}{named}")
    return "\n".join(found)


def _threads(lanes: tuple[Lane, ...]) -> str:
    shown = [f"block {_index(one.block)} thread {_index(one.thread)}" for one in lanes[:_MOST_SHOWN]]
    more = len(lanes) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "") or "no thread"


def _index(index: tuple[int, int, int]) -> str:
    return ",".join(map(str, index))


_MOST_SHOWN = 4
