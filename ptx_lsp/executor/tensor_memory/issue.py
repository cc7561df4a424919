"""Instructions by which single threads begin operations on Tensor Memory: `tcgen05.mma`, `cp`, `shift`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.descriptors.shared import CHUNK, SharedDescriptor
from ptx_lsp.executor.instructions.threads import Threads, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Described
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import MemoryEvent, TensorUse
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.tensor_memory.in_flight import InFlight, Span
from ptx_lsp.executor.tensor_memory.operands import (
    Columns,
    Inputs,
    Numbers,
    check_columns,
    pair_of,
)

Request = TypeVar("Request", bound=Hashable)
"""The decoded operands of a thread; equal ones do the same in their blocks."""

MISALIGNED = "misaligned-descriptor"


@dataclass(frozen=True, eq=False)
class Issue(Described, ABC, Generic[Request]):
    """An instruction that each thread executes for its block, or with a `group` of 2 for its pair."""

    spaces: Spaces
    inputs: Inputs
    group: int
    line: int
    text: str

    @abstractmethod
    def requests(self, row: Threads) -> Iterator[Request]:
        """The operands of each thread."""

    @abstractmethod
    def check(self, wave: Wave, blocks: Numbers, request: Request) -> None:
        """Raises ExecutionError for what is not valid."""

    @abstractmethod
    def columns(self, request: Request) -> Iterable[Columns]:
        """The columns that it uses."""

    @abstractmethod
    def sources(self, request: Request) -> Iterable[tuple[str, SharedDescriptor, Numbers]]:
        """The matrices in shared memory that it reads: a name, and the addresses of the chunks."""

    @abstractmethod
    def perform(self, wave: Wave, pairs: Numbers, request: Request) -> None:
        """Does it in the blocks of each row of `pairs`."""

    @abstractmethod
    def request_text(self, request: Request) -> str:
        """The operands in words."""

    def describe(self, wave: Wave, lane: int) -> str:
        chosen = np.zeros(wave.shape, np.bool_)
        chosen.reshape(-1)[lane] = True
        return self.request_text(next(self.requests(threads(wave, chosen))))

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if not row.count:
            return
        pairs = pair_of(row, self.group)
        requests = list(self.requests(row))
        for at, request in enumerate(requests):
            try:
                self.check(wave, pairs[at], request)
                self._check_places(wave, pairs[at], request)
            except ExecutionError as error:
                raise row.error(str(error), error.kind, np.arange(row.count) == at) from None
        operation = _Operation(self, wave, row.lanes, pairs, requests)
        self.spaces.began(wave, operation)
        for at, request in enumerate(requests):
            self._tell(row, at, pairs[at], request)
        InFlight.of(wave).operations.begin(row.lanes, pairs[:, 0], operation)

    def _check_places(self, wave: Wave, blocks: Numbers, request: Request) -> None:
        limit = wave.launch.shared_bytes
        for name, _, addresses in self.sources(request):
            last = int(addresses.max()) + CHUNK
            if last > limit:
                raise ExecutionError(
                    f"{name} reaches up to {last:#x} in shared memory, of {limit} bytes", "out-of-bounds"
                )
        for one in self.columns(request):
            check_columns(wave, blocks, one)

    def _tell(self, row: Threads, at: int, blocks: Numbers, request: Request) -> None:
        """Reports the accesses of a thread to observers."""
        if self.spaces.observer is None:
            return
        wave, lane = row.wave, int(row.lanes[at])
        data = wave.shared.reshape(-1)
        for name, descriptor, addresses in self.sources(request):
            if remark := descriptor.remark():
                self.spaces.misused(wave, MISALIGNED, f"{name}: {remark}", row.lanes[at : at + 1])
            starts = blocks[:, None] * wave.shared.shape[1]
            offsets = np.asarray((starts + np.unique(addresses)).reshape(-1), np.int64)
            lanes = np.full(offsets.shape, lane)
            self.spaces.tell(wave, MemoryEvent("read", ".shared", None, data, CHUNK, lanes, offsets, "copy"))
        self.spaces.tell_tensor(wave, [
            TensorUse(lane, block, one.groups, one.address.column, one.count, one.name, one.reads, one.writes)
            for one in self.columns(request) for block in blocks.tolist()
        ])


class _Operation(Generic[Request]):
    """What threads have begun with one instruction."""

    def __init__(
        self, issue: Issue[Request], wave: Wave, lanes: Numbers, pairs: Numbers, requests: list[Request]
    ) -> None:
        self.line, self.text = issue.line, issue.text
        self._issue, self._wave = issue, wave
        self._lanes, self._pairs, self._requests = lanes, pairs, requests

    def spans(self, chosen: Bools) -> Iterator[Span]:
        for at in np.flatnonzero(chosen).tolist():
            blocks = self._pairs[at]
            for one in self._issue.columns(self._requests[at]):
                yield Span(blocks, np.full(blocks.shape, one.address.column), one.count)

    def land(self, chosen: Bools) -> None:
        alike: dict[Request, list[int]] = {}
        for at in np.flatnonzero(chosen).tolist():
            alike.setdefault(self._requests[at], []).append(at)
        for request, members in alike.items():
            try:
                self._issue.perform(self._wave, self._pairs[members], request)
            except ExecutionError as error:
                lanes = np.zeros(self._wave.shape, np.bool_)
                lanes.reshape(-1)[self._lanes[members]] = True
                text = f"{error.args[0]} in `{self.text}`"
                raise ExecutionError(text, error.kind, self.line, self._wave.thread_ids(lanes)) from None
