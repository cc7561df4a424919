"""`cp.async.bulk` and `cp.reduce.async.bulk`, their groups, and their cache hints."""

from __future__ import annotations

import numpy as np

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, DType, Program
from ptx_lsp.executor.asynchronous.async_copy import Group
from ptx_lsp.executor.asynchronous.async_reduction import Reduction, reduction
from ptx_lsp.executor.asynchronous.cluster import peers
from ptx_lsp.executor.asynchronous.mbarrier_steps import naming_threads
from ptx_lsp.executor.asynchronous.transfer import Piece, Pieces, inspected, ranges
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import (
    Indices,
    Threads,
    by_name,
    pointer,
    shared_offsets,
    threads,
)
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Bytes, Space
from ptx_lsp.executor.machine.observer import Actor, MemoryEvent, Use
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_WIDTHS = {
    "size": ".u32", "ctaMask": ".u32", "byteMask": ".u16", "ignoreBytesLeft": ".u32",
    "ignoreBytesRight": ".u32",
}


class Bulk:
    """A bulk copy, or with `combine` a reduction of elements."""

    def __init__(
        self, spaces: Spaces, pointers: dict[str, tuple[Space, Program]], names: tuple[str, ...],
        values: Program, combine: Reduction | None, element: DType, inspect: str,
    ) -> None:
        """`pointers` are dstMem, srcMem and perhaps mbar; `names` what `values` computes."""
        self._spaces = spaces
        self._pointers = pointers
        self._names, self._values = names, values
        self._combine, self._element, self._inspect = combine, element, inspect
        self._use: Use = "write" if combine is None else "update"

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        given = dict(zip(self._names, row.compute(self._values), strict=True))
        sizes = given["size"].astype(np.int64)
        if bool((sizes % 16 != 0).any()):
            raise row.error("the size must be a multiple of 16", "misaligned", sizes % 16 != 0)
        if bool((sizes == 0).any()):
            row, given = row.subset(sizes > 0), {name: one[sizes > 0] for name, one in given.items()}
            sizes = sizes[sizes > 0]
        if row.count == 0:
            return
        with naming_threads(row):
            self._begin(row, sizes, given)

    def _begin(self, row: Threads, sizes: Indices, given: dict[str, Array]) -> None:
        targets = self._ranges(row, "dstMem", sizes, given)
        left, right = (
            given[name].astype(np.int64) if name in given else np.zeros(row.count, np.int64)
            for name in ("ignoreBytesLeft", "ignoreBytesRight")
        )
        sources_at = self._sources(row, sizes, left, right)
        which = np.arange(row.count)
        places = np.array([offset for _, offset in targets], np.int64)
        barriers: Indices | None = None
        if "mbar" in self._pointers:
            space, program = self._pointers["mbar"]
            barriers = shared_offsets(self._spaces, row, row.compute(program)[0], space, 8, "update")
            if "ctaMask" in given:
                barriers = peers(row, barriers, given["ctaMask"])[1]
                which, places = peers(row, places, given["ctaMask"])
                self._tell(row, which, places, sizes)
            barriers >>= 3
        pieces: list[Piece] = []
        for at, place in zip(which.tolist(), places.tolist(), strict=True):
            size = int(sizes[at])
            data, offset = sources_at[at]
            kept: Bools | None = None
            if "byteMask" in given:
                bits = int(given["byteMask"].astype(np.int64)[at]) >> np.arange(16) & 1
                kept = np.tile(bits.astype(np.bool_), size // 16)
            first, last = int(left[at]), size - int(right[at])
            pieces.append(Piece(
                int(row.lanes[at]), data, slice(offset, offset + last - first), targets[at][0],
                slice(place + first, place + last), kept=kept,
            ))
        Pieces(
            self._spaces, row.wave, pieces, barriers, sizes[which], self._combine, self._element,
            self._inspect,
        ).begin()

    def _tell(self, row: Threads, which: Indices, places: Indices, sizes: Indices) -> None:
        """Tells of the places in several blocks that a copy writes."""
        memory = row.wave.shared.reshape(-1)
        for at, place in zip(which.tolist(), places.tolist(), strict=True):
            self._spaces.tell(row.wave, MemoryEvent(
                "write", ".shared", None, memory, int(sizes[at]), row.lanes[at : at + 1],
                np.array([place]),
                "copy",
            ))

    def _ranges(
        self, row: Threads, name: str, sizes: Indices, given: dict[str, Array]
    ) -> list[tuple[Bytes, int]]:
        space, program = self._pointers[name]
        by: Actor | None = None if "ctaMask" in given else "copy"
        return ranges(self._spaces, row, row.compute(program)[0], space, sizes, use=self._use, by=by)

    def _sources(
        self, row: Threads, sizes: Indices, left: Indices, right: Indices
    ) -> list[tuple[Bytes, int]]:
        """The sources without the bytes that are ignored at their ends."""
        space, program = self._pointers["srcMem"]
        addresses = row.compute(program)[0].astype(np.int64)
        wrong = addresses % 16 != 0
        if wrong.any():
            raise row.error("the address must be a multiple of 16", "misaligned", wrong)
        return ranges(
            self._spaces, row, addresses + left, space, sizes - left - right, use="read", alignment=1,
            by="copy",
        )


def bulk_copy(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `cp.async.bulk`, `cp.reduce.async.bulk` or the instructions that wait for them."""
    name, choices = match.entry.name, match.candidate.choices
    if name.endswith("commit_group"):
        return Group("commit", bulk=True)
    if name.endswith("wait_group"):
        newest = constant(node.operands[0])
        assert isinstance(newest, int)
        # With .sync_restrict it orders less; here it waits for everything.
        return Group("wait", newest, bulk=True, only_read=".read" in choices.modifiers)
    given = by_name(node, match)
    if "value" in given:
        raise ExecutionError("a copy with a value in place of its mbarrier is not supported", "unsupported")
    target, source = choices["dst"], choices["src"]
    places = {"dstMem": target, "srcMem": source, "mbar": ".shared"}
    pointers = {
        one: pointer(given[one], space, operands) for one, space in places.items() if one in given
    }
    names = tuple(one for one in given if one in _WIDTHS)
    values = sources([(given[one], TYPES[_WIDTHS[one]]) for one in names], operands)
    combine, element = None, UNSIGNED[8]
    if "reduce" in name.split("."):
        type = TYPES[choices["ftype"] or form_type(choices)]
        operation = ".add" if choices["ftype"] else choices["redOp"]
        # As the manual notes, without `.noftz`.
        flushes = (operation, type.name) == (".add", ".f32") and not choices["ftype"]
        combine, element = reduction(operation, type, flushes=flushes), UNSIGNED[type.width]
    return Bulk(spaces, pointers, names, values, combine, element, inspected(choices.modifiers))
