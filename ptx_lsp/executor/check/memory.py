"""Reads of uninitialised shared and local memory. Global memory comes from the host, initialised."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.variables import Variables, row_bytes
from ptx_lsp.executor.instrumentation.used_bytes import used_parts
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import MemoryEvent, Observer
from ptx_lsp.executor.machine.wave import Wave


class UninitializedMemory(Observer):
    """1. A byte of shared or local memory is initialised once an instruction has written it. A read of one
       that is not is a finding; an atomic operation reads and writes. A load reads the bytes that its
       `used_bytes_mask` names.
    2. Bytes that an asynchronous copy has begun to write are not to be read before it is waited for.
    """

    def __init__(self, findings: Findings, variables: Variables) -> None:
        self._findings = findings
        self._variables = variables
        self._coming: WeakKeyDictionary[Wave, Bools] = WeakKeyDictionary()
        """Bytes of shared memory that are under way."""
        self._written: WeakKeyDictionary[Wave, dict[str, Bools]] = WeakKeyDictionary()

    def accessed(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        if access.space not in (".shared", ".local") or access.lanes.size == 0:
            return
        written = self._bytes(wave, access)
        if access.use == "read" and wave not in self._coming and written.all():
            return
        for part in used_parts(self._findings.usages.of(step), access):
            self._used(wave, step, part, written)

    def _used(self, wave: Wave, step: Step, access: MemoryEvent, marks: Bools) -> None:
        """Uses bytes of a memory; `marks` has those that are written."""
        written, reached = _by_size(marks, access)
        if access.space == ".shared":
            self._await(wave, step, access)
        if access.use in ("read", "update"):
            missing = np.logical_not(_whole(written[reached]))
            if missing.any():
                self._report(wave, step, access, np.asarray(missing, np.bool_), "uninitialized-memory")
        if access.use in ("write", "update", "land"):
            written[reached] = _ALL[written.dtype.itemsize]
            modifiers = self._findings.usages.of(step).modifiers
            if any(one.startswith(".multicast") for one in modifiers):  # perhaps in all blocks of the cluster
                row = row_bytes(wave, access.space)
                size = row // written.dtype.itemsize
                written.reshape(-1, size)[:, np.unique(reached % size)] = _ALL[written.dtype.itemsize]

    def _await(self, wave: Wave, step: Step, access: MemoryEvent) -> None:
        """Sentence 2."""
        if access.use == "begin" and wave not in self._coming:
            self._coming[wave] = np.zeros(access.data.size, np.bool_)
        known = self._coming.get(wave)
        if known is None:
            return
        coming, reached = _by_size(known, access)
        if access.use in ("begin", "land", "write"):
            coming[reached] = _ALL[coming.dtype.itemsize] if access.use == "begin" else 0
            return
        early = np.asarray(coming[reached] != 0, np.bool_).any(axis=1)
        if early.any():
            self._report(wave, step, access, np.asarray(early, np.bool_), "cp.async-not-waited")

    def _bytes(self, wave: Wave, access: MemoryEvent) -> Bools:
        """Which bytes of a memory are written. Local memory may have grown: each lane's begins elsewhere
        then.
        """
        spaces = self._written.setdefault(wave, {})
        row = row_bytes(wave, access.space)
        known = spaces.get(access.space)
        if known is None or known.shape[1] < row:
            grown = np.zeros((access.data.size // row, row), np.bool_)
            if known is not None:
                grown[:, : known.shape[1]] = known
            elif access.space == ".shared":
                grown[:, wave.launch.reserved] = True
            spaces[access.space] = known = grown
        return known.reshape(-1)

    def _report(
        self, wave: Wave, step: Step, access: MemoryEvent, wrong: Bools, kind: str
    ) -> None:
        offset = int(access.offsets[wrong][0])
        address = self._variables.within(wave, access.space, offset)
        name = self._variables.name(access.space, address)
        where = f"`{name}`, in {access.space} memory," if name else f"{access.space} memory"
        done = (
            "it is initialised"
            if kind == "uninitialized-memory"
            else "the copy into it has completed"
        )
        message = f"{where} is read at address {address:#x} before {done}"
        self._findings.add(
            kind, message, wave, step, access.lanes[wrong], space=access.space,
            address=address, variable=name,
        )


_ALL = {size: int.from_bytes(b"\1" * size, "little") for size in (1, 2, 4, 8)}
"""Elements of so many bytes, each of which is true."""


def _by_size(
    marks: Bools, access: MemoryEvent
) -> tuple[npt.NDArray[np.unsignedinteger], npt.NDArray[np.int64]]:
    """The marks of bytes in elements as large as the access allows, and those it reaches, a row for each."""
    every = int(np.bitwise_or.reduce(access.offsets, initial=access.size | marks.size | 8))
    each = every & -every
    elements = access.offsets[:, None] // each + np.arange(access.size // each)
    return marks.view(f"u{each}"), elements


def _whole(marks: npt.NDArray[np.unsignedinteger]) -> Bools:
    """Whether all bytes of each row are marked."""
    return np.asarray((marks == _ALL[marks.dtype.itemsize]).all(axis=1), np.bool_)
