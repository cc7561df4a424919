"""Runs ptxas on a file and merges its messages into our findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Diagnostic, Origin
from ptx_lsp.lint.ptxas_messages import merge_messages
from ptx_lsp.lint.results.report import Reported, reported
from ptx_lsp.ptxas import PtxasError, Report
from ptx_lsp.text import Source

__all__ = ["PtxasError", "ask", "with_messages"]

_TIMEOUT_S = 600


def ask(
    source: Source, program: Path, target: Target | None, maxrregcount: int | None = None
) -> Report:
    """The messages of ptxas for `target`, else for the file's own target. Raises PtxasError."""
    if target is not None and str(target) not in ptxas.architectures(program):
        raise PtxasError(f"ptxas {ptxas.version(program)} does not support {target}: skipped")
    arch = str(target) if target is not None else None
    return ptxas.judge(
        source.data, ptxas=program, arch=arch, timeout_s=_TIMEOUT_S, maxrregcount=maxrregcount
    )


def with_messages(
    kept: Sequence[Diagnostic],
    answer: Report,
    source: Source,
    comments: Suppressions,
    origins: Callable[[int], tuple[str, tuple[Origin, ...]]] = lambda offset: ("", ()),
) -> list[Reported]:
    """The findings merged with those of ptxas, in the order of their places; see `merge_messages`."""
    notes, added = merge_messages(kept, answer.messages, source, comments)
    own = [
        one._replace(notes=tuple(f"ptxas: {text}" for text in notes.get(index, ())))
        for index, one in enumerate(reported(kept, source, origins))
    ]
    return sorted([*own, *reported(added, source, origins)], key=lambda one: one.mark.start)
