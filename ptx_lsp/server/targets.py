"""Checks a file against several targets, as the configuration may request.

The editor features use the first target. Each other target has its own module, which is updated incrementally
like that of the first. With one target, nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptx_lsp.isa.target import Target
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document


class SecondaryTargets:
    """The findings of one file for the targets after the first.

    When they are no longer used, the cycles in their modules are cut, as for a snapshot.
    """

    def __init__(self) -> None:
        self._known: dict[Target, LintSession] = {}

    def __del__(self) -> None:
        for linting in self._known.values():
            linting.module.dispose(linting.module)

    def steps(
        self,
        document: Document,
        targets: Sequence[Target],
        rules: tuple[Rule, ...],
        finished: Callable[[Function], None],
    ) -> Iterator[Rule]:
        """Runs the rules over a document; stopping between two steps loses only the remaining ones."""
        for target in self._known.keys() - set(targets):
            left = self._known.pop(target).module
            left.dispose(left)
        for target in targets:
            last = self._known.get(target)
            if last is None or last.module.document is not document or last.rules != rules:
                module = Module(document, last.module if last is not None else None, target)
                linting = self._known[target] = LintSession(module, rules, last, staged=True)
                if last is not None:
                    last.module.dispose(module)
            else:
                linting = last
            yield from linting.steps(finished)

    def lintings(self, targets: Sequence[Target]) -> list[LintSession]:
        """One lint session per target; complete once `steps` is exhausted."""
        return [self._known[target] for target in targets]


def merged(lintings: Sequence[LintSession], rules: Rules) -> list[Diagnostic]:
    """The findings of all targets, in text order. A finding that only some targets have names them."""
    having: dict[Diagnostic, list[str]] = {}
    for linting in lintings:
        for one in rules.judged(linting.diagnostics):
            having.setdefault(one, []).append(str(linting.module.target))
    told = (
        one
        if len(names) == len(lintings)
        else one._replace(message=f"{one.message} ({', '.join(names)} only)")
        for one, names in having.items()
    )
    return sorted(told, key=lambda one: (one.span, one.code, one.message))
