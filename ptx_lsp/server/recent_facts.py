"""Keeps the analyses of recent functions only.

The analyses of a function take more memory than its statements. Once its findings are known, only an edit
of that function or a request needs them. So they are kept for the functions that were analysed last; for any
other, they are computed again when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from ptx_lsp.facts import SMALL_FACTS
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function

MOST_INSTRUCTIONS = 50_000
"""The functions with analyses have at most this many instructions, except that the last function may be
larger. The analyses of an instruction take about a kilobyte, and with those for its registers two and a half.
"""
_SHARE_LEFT = 0.75
"""The share of `MOST_INSTRUCTIONS` that is left when analyses are dropped."""

_SMALL = ("ptx_lsp.model.", "ptx_lsp.analyses.well_formed")
"""The modules whose facts are small."""

_T = TypeVar("_T")


class _Facts(NamedTuple):
    values: dict[object, object]
    previous: dict[object, tuple[object, InstructionRangeEdit]]
    instructions: int
    """0 if only small facts are left."""
    left: int = 0
    """The number of facts left then."""


class RecentFacts:
    """The functions of all open files that have analyses, the most recent last."""

    def __init__(self, undisturbed: Callable[[Callable[[], None]], bool]) -> None:
        """`undisturbed` calls a function at a time when nothing uses facts, if now is one. Between two uses
        all facts may be dropped, but within one, analyses hold objects of each other.
        """
        self._undisturbed = undisturbed
        self._known: dict[int, _Facts] = {}
        """By the identity of their values. Those of functions that are no longer used are empty."""
        self._instructions = 0

    def add(self, function: Function) -> None:
        """Called when a function has been analysed. May drop the facts of others."""
        self._put(function)
        self._limit()

    def add_all(self, functions: Iterable[Function]) -> None:
        """Adds the functions that have facts and are not known yet: a request computed them."""
        for function in functions:
            known = self._known.get(id(function.facts))
            if known is None:
                self._put(function)
            elif not known.instructions and len(function.facts) > known.left:
                if all(map(_is_small, list(function.facts))):
                    self._known[id(function.facts)] = known._replace(left=len(function.facts))
                else:
                    self._put(function)
        self._limit()

    def _limit(self) -> None:
        if self._instructions > MOST_INSTRUCTIONS:
            dropped: list[object] = []
            self._undisturbed(lambda: self._drop(dropped))
            while dropped:  # other threads may run in between: to free all takes long
                dropped.pop()

    def _put(self, function: Function) -> None:
        self._pop(id(function.facts))
        size = len(function.body.instructions)
        self._known[id(function.facts)] = _Facts(function.facts, function.previous_facts, size)
        self._instructions += size

    def _pop(self, identity: int) -> _Facts | None:
        found = self._known.pop(identity, None)
        if found is not None:
            self._instructions -= found.instructions
        return found

    def forget_unused(self) -> None:
        """Forgets the functions that are no longer used: even the little known of each keeps memory."""
        for identity, facts in list(self._known.items()):
            if not facts.values and not facts.previous:
                self._pop(identity)
        self._known = dict(self._known)

    def _drop(self, dropped: list[object]) -> None:
        """Drops all but the most recent ones, which `dropped` keeps for now."""
        self.forget_unused()
        *others, _ = self._known or (0,)
        for identity in others:
            if self._instructions <= MOST_INSTRUCTIONS * _SHARE_LEFT:
                break
            facts = self._pop(identity)
            if facts is not None:
                dropped += (dict(facts.values), dict(facts.previous))
                _keep_small(facts.values)
                _keep_small(facts.previous)  # last: an edit takes over both, these first
                self._known[identity] = facts._replace(instructions=0, left=len(facts.values))


def _keep_small(facts: dict[object, _T]) -> None:
    kept = {key: value for key, value in facts.items() if _is_small(key)}
    facts.clear()
    facts.update(kept)


@lru_cache(maxsize=1 << 10)
def _is_small(key: object) -> bool:
    """Whether a fact is kept: it is small, and asked for about all functions of a file. None of these depends
    on objects of a fact that is dropped.
    """
    return getattr(key, "__module__", "").startswith(_SMALL) or key in SMALL_FACTS
