"""The mbarrier objects of a wave: 64 bits each in shared memory (PTX ISA, "mbarrier").

Their layout is implementation-defined. Here it is, from the lowest bit on:

    bits   0-19  pending arrivals of the current phase
    bits  20-39  expected arrivals of the next phase
    bits  40-60  tx-count, in two's complement
    bit      61  the current phase, modulo 2
    bit      62  the layout: 0 for `.layout::v0`, 1 for `.layout::v1`
    bit      63  1: this is an mbarrier

The state that an arrival returns is the object before it. Arrivals of lanes that execute an instruction
together count one after the other, the lowest lane first.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instructions.threads import Indices
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.wave import Wave

Words: TypeAlias = npt.NDArray[np.uint64]

MOST = (1 << 20) - 1
"""The largest count."""
_MOST_V1 = (1 << 9) - 1  # of arrivals, with `.layout::v1`
_COUNT = np.uint64(MOST)
_EXPECTED, _TX, _PHASE = np.uint64(20), np.uint64(40), np.uint64(61)
_TX_MASK = np.uint64((1 << 21) - 1)
_LAYOUT = np.uint64(1 << 62)
_VALID = np.uint64(1 << 63)


class Barriers:
    """All mbarriers of a wave. `at` are places in its shared memory, counted in units of 8 bytes."""

    def __init__(self, wave: Wave) -> None:
        self._words: Words = wave.shared.reshape(-1).view(np.uint64)
        self.completed = 0
        """The number of completed phases."""
        self.looked_at = 0
        """The mbarriers that threads last polled without success."""
        self._reported: set[int] = set()
        self._failed: dict[tuple[int, int], bool] = {}
        self._behind: dict[int, int] = {}

    def make(self, at: Indices, counts: Indices, layout: int) -> None:
        """Initializes mbarriers that wait for `counts` arrivals in each phase."""
        most, kind = (_MOST_V1, " of `.layout::v1`") if layout else (MOST, "")
        if bool((counts < 1).any() or (counts > most).any()):
            raise ExecutionError(
                f"the count of an mbarrier{kind} must be from 1 to {most}", "mbarrier"
            )
        word = counts.astype(np.uint64)
        self._words[at] = word | word << _EXPECTED | _VALID | (_LAYOUT if layout else np.uint64(0))

    def end(self, at: Indices) -> None:
        self._check(at)
        self._words[at] = 0

    def arrive(
        self, at: Indices, counts: Indices, bytes_expected: Indices | None, *, drop: bool, complete: bool
    ) -> Words:
        """Arrives `counts` times at each, after expecting `bytes_expected` more. Returns the states before.
        With `drop`, later phases expect fewer arrivals; without `complete`, no phase may become complete.
        """
        self._check(at)
        unique, where = np.unique(at, return_inverse=True)
        totals = np.bincount(where, counts).astype(np.int64)
        before = self._words[unique]
        pending = (before & _COUNT).astype(np.int64)
        if bool((totals > pending).any()):
            return self._one_by_one(at, counts, bytes_expected, drop=drop, complete=complete)
        states = before[where] - _earlier(where, counts).astype(np.uint64)
        if bytes_expected is not None:
            self.expect(at, bytes_expected)
        words = self._words[unique] - totals.astype(np.uint64)
        if drop:
            words -= totals.astype(np.uint64) << _EXPECTED
        self._words[unique] = words
        self._finish(unique, complete=complete)
        return states

    def expect(self, at: Indices, count: Indices) -> None:
        """Makes the current phases wait for `count` more bytes."""
        self._check(at)
        unique, where = np.unique(at, return_inverse=True)
        self._add_bytes(unique, np.bincount(where, count).astype(np.int64))

    def complete_bytes(self, at: Indices, count: Indices) -> None:
        """Records that `count` bytes have arrived."""
        self._check(at)
        unique, where = np.unique(at, return_inverse=True)
        self._add_bytes(unique, -np.bincount(where, count).astype(np.int64))
        self._finish(unique, complete=True)

    def report(self, at: int) -> None:
        """Records that data of the current phase are invalid. Raises ExecutionError without `.layout::v1`."""
        if not int(self._words[at] & _LAYOUT):
            raise ExecutionError("a report requires an mbarrier of `.layout::v1`", "mbarrier")
        self._reported.add(at)

    def has_failed(self, at: Indices, phases: Words) -> Bools:
        """Whether something was reported in the last phases with these numbers, modulo 2."""
        keys = zip(at.tolist(), phases.tolist(), strict=True)
        return np.array([self._failed.get(key, False) for key in keys], np.bool_)

    def add_pending(self, at: Indices) -> None:
        """Each makes its current phase wait for one arrival more."""
        self._check(at)
        unique, counts = np.unique(at, return_counts=True)
        pending = (self._words[unique] & _COUNT).astype(np.int64) + counts
        most = np.where(self._words[unique] & _LAYOUT, _MOST_V1, MOST)
        if bool((pending > most).any()):
            raise ExecutionError(f"the mbarrier has more than {most.min()} pending arrivals", "mbarrier")
        self._words[unique] += counts.astype(np.uint64)

    def is_complete(self, at: Indices, phases: Words, *, conditional: bool = False) -> Bools:
        """Whether the phases with these numbers, modulo 2, have completed. Conditional phases require that
        nothing was reported in them.
        """
        self._check(at)
        current = self._words[at] >> _PHASE & np.uint64(1)
        if conditional and self._behind:
            current ^= np.array([self._behind.get(one, 0) & 1 for one in at.tolist()], np.uint64)
        done = np.not_equal(current, phases)
        if not done.all():
            self.looked_at = int(at[~done][0])
        return done

    def has_layout(self, at: Indices, layout: int) -> Bools:
        self._check(at)
        return np.equal(self._words[at] & _LAYOUT != 0, layout)

    def describe(self, at: int, row_bytes: int) -> str:
        """The condition that an mbarrier waits for, for messages; `row_bytes` are those of a block."""
        word = int(self._words[at])
        expected, phase = word >> int(_EXPECTED) & MOST, word >> int(_PHASE) & 1
        bytes_left = int(_bytes(self._words[at : at + 1])[0])
        return (
            f"the mbarrier at {8 * at % row_bytes:#x}, whose phase (parity {phase}) lacks {word & MOST} of"
            f" {expected} arrivals and {bytes_left} bytes"
        )

    def _check(self, at: Indices) -> None:
        missing = self._words[at] & _VALID == 0
        if missing.any():
            raise ExecutionError("the address does not hold an initialized mbarrier", "mbarrier")

    def _add_bytes(self, at: Indices, count: Indices) -> None:
        words = self._words[at]
        total = _bytes(words) + count
        if bool((np.abs(total) > MOST).any()):
            raise ExecutionError(f"an mbarrier counts at most {MOST} bytes", "mbarrier")
        bits = (total.astype(np.uint64) & _TX_MASK) << _TX
        self._words[at] = words & ~(_TX_MASK << _TX) | bits

    def _finish(self, at: Indices, *, complete: bool) -> None:
        """Goes on to the next phase where nothing is pending."""
        words = self._words[at]
        done = (words & (_COUNT | _TX_MASK << _TX)) == 0
        if not done.any():
            return
        if not complete:
            raise ExecutionError(
                "an arrival with `.noComplete` must not complete the phase", "mbarrier"
            )
        if self._reported or self._failed:
            self._keep_reports(at[done], words[done])
        following = words[done] | words[done] >> _EXPECTED & _COUNT
        self._words[at[done]] = following ^ np.uint64(1) << _PHASE
        self.completed += int(np.count_nonzero(done))

    def _keep_reports(self, at: Indices, words: Words) -> None:
        """Notes whether something was reported in the phases that are complete now."""
        for place, phase in zip(at.tolist(), phase_of(words).tolist(), strict=True):
            failed = place in self._reported
            self._failed[place, phase] = failed
            self._behind[place] = self._behind.get(place, 0) + failed
            self._reported.discard(place)

    def _one_by_one(
        self, at: Indices, counts: Indices, bytes_expected: Indices | None, *, drop: bool, complete: bool
    ) -> Words:
        """For lanes that arrive at different phases, or too often."""
        states = np.zeros(at.shape, np.uint64)
        for lane in range(at.size):
            one = slice(lane, lane + 1)
            if counts[lane] > int(self._words[at[lane]] & _COUNT):
                raise ExecutionError("more arrivals than the phase of the mbarrier expects", "mbarrier")
            some = None if bytes_expected is None else bytes_expected[one]
            states[one] = self.arrive(at[one], counts[one], some, drop=drop, complete=complete)
        return states


def phase_of(states: Words) -> Words:
    """The number of the phase of a state, modulo 2."""
    return states >> _PHASE & np.uint64(1)


def pending_of(states: Words) -> Words:
    """The number of pending arrivals."""
    return states & _COUNT


def _bytes(words: Words) -> Indices:
    """The tx-counts."""
    bits = (words >> _TX & _TX_MASK).astype(np.int64)
    return (bits ^ 1 << 20) - (1 << 20)


def _earlier(groups: Indices, counts: Indices) -> Indices:
    """For each element the sum of the counts of its group that stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered, sorted_groups = counts[order], groups[order]
    through = np.cumsum(ordered) - ordered
    starts = np.flatnonzero(np.append(True, sorted_groups[1:] != sorted_groups[:-1]))
    lengths = np.diff(np.append(starts, ordered.size))
    result = np.zeros(groups.shape, np.int64)
    result[order] = through - np.repeat(through[starts], lengths)
    return result
