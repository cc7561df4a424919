"""The linter's verdicts on instructions with recorded verdicts."""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple
from unittest.mock import patch

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.fixes import insertion_edits
from ptx_lsp.model.module import Module
from tests.oracle.error_rules import error_rules
from tests.oracle.instructions.cases import Point
from tests.oracle.instructions.judge import VERDICTS, prelude, recorded

_BY_CODE_GENERATION = frozenset(("load-before-call", "narrow-pointer"))
"""Rules that speak of what ptxas refuses when it makes code: most verdicts here are of parsing alone."""


class Replayed(NamedTuple):
    """A recorded line at its version and target, ptxas's verdict on it, and the linter's first error."""

    line: str
    point: Point
    accepted: bool
    error: str | None

    @property
    def agrees(self) -> bool:
        return self.accepted == (self.error is None)


def replay(section: str, *, generates_code: bool = False) -> Iterator[Replayed]:
    """Every recorded line of a section. `generates_code`: its verdicts are of more than parsing."""
    with _without_collections():
        for point, lines in by_point(recorded((VERDICTS / f"{section}.txt").read_text())).items():
            errors = _errors(lines, point, frozenset[str]() if generates_code else _BY_CODE_GENERATION)
            for line, accepted in lines.items():
                yield Replayed(line, point, accepted, errors.get(line))


def by_point(verdicts: dict[tuple[str, Point], bool]) -> dict[Point, dict[str, bool]]:
    """The same verdicts, by version and target."""
    found: dict[Point, dict[str, bool]] = defaultdict(dict)
    for (line, point), accepted in verdicts.items():
        found[point][line] = accepted
    return found


_OF_SEVERAL = "mixed-cta-group"
"""The rule about lines that were recorded in kernels of their own, and are in one here."""


def _errors(lines: Iterable[str], point: Point, ignored: frozenset[str]) -> dict[str, str]:
    """What the linter finds in each of these lines, in a function of their own."""
    text = [*prelude(*point).rstrip("\n").split("\n")]
    first = len(text)
    text += lines
    # nobody reads the fixes, and their search takes long
    with patch.object(insertion_edits, "ways", return_value=()):
        module = Module.parse("\n".join([*text, "L1:", "ret;", "}", ""]))
        source = module.document.source
        diagnostics = LintSession(module, error_rules()).diagnostics
    return {
        text[number]: found.message
        for found in reversed(diagnostics)
        if found.severity == "error"
        and found.rule not in {*ignored, _OF_SEVERAL}
        and (number := source.line_of(found.span.start)) >= first
    }


@contextmanager
def _without_collections() -> Generator[None]:
    """As `ptx-lint` reads a file: hardly anything is in a cycle."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
