"""Whether candidates are legal PTX: no error of `ptx-lint`, and none of ptxas."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import default_rules
from ptx_lsp.lint.rule import Rule
from ptx_lsp.ptxas import PtxasError, architecture, judge
from ptx_lsp.reduce.program import Program


@dataclass(frozen=True)
class Legality:
    """Errors of the rules `allowed` do not count: the first text has them, and is reduced nevertheless."""

    allowed: frozenset[str] = frozenset()

    def holds(self, program: Program) -> bool:
        """Whether `ptx-lint` finds no other errors."""
        return errors(program).keys() <= self.allowed


def errors(program: Program) -> dict[str, str]:
    """The rules of the errors in a text, each with its first message."""
    found: dict[str, str] = {}
    source = program.module.document.source
    for one in LintSession(program.module, _error_rules()).diagnostics:
        if one.severity == "error":
            line = source.line_of(one.span.start) + 1
            found.setdefault(one.rule, f"line {line}: {one.message}")
    return found


@cache
def _error_rules() -> tuple[Rule, ...]:
    return tuple(rule for rule in default_rules() if rule.severity == "error")


def rejection(data: bytes, ptxas: Path, timeout_s: float) -> str | None:
    """The first error of ptxas about a text; None if there is none. A crash, or a target that this ptxas does
    not have, is not a rejection.

    ptxas only checks the text, which takes milliseconds. What it rejects later is not seen.
    """
    try:
        arch = architecture(data, ptxas).replace("sm_", "compute_")
        report = judge(data, ptxas=ptxas, arch=arch, timeout_s=timeout_s)
    except PtxasError:
        return None
    if report.accepted:
        return None
    for one in report.messages:
        if one.severity in ("error", "fatal"):
            return one.text if one.line is None else f"line {one.line}: {one.text}"
    return "ptxas gives no reason"
