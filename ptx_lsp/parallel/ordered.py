"""Applies a function to many items on an executor, and gives the results in the order of the items.

1. Consecutive items travel in parts of about the same cost, each a task of the executor.
2. A result is given as soon as all before it are. Only a window of items is looked at ahead of it, and only
   a few parts are submitted at a time, those much larger than others first, so that neither items nor results
   pile up.
3. A part whose worker dies is submitted again. If that dies too, it runs while nothing else does. If it dies
   alone, it is divided in two; a single item that dies alone is lost, and `lost` makes its result.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from heapq import heappop, heappush
from queue import SimpleQueue
from typing import Generic, TypeVar, cast

from ptx_lsp import __version__
from ptx_lsp.parallel.call import call_bytes
from ptx_lsp.parallel.jobs import JobsError
from ptx_lsp.parallel.part import Raised, packed, run_part, unpacked
from ptx_lsp.parallel.process_pool import ProcessPool
from ptx_lsp.parallel.same_code import own_code

Item = TypeVar("Item")
Result = TypeVar("Result")

_SUBMITTED = 2
"""Parts per worker: one that it is at, and one that has arrived."""
_WINDOW = 32
"""Parts per worker between the first without a result and the last that is looked at."""
_AHEAD = 4096
"""Items per worker between them."""
_KNOWN_AT_ONCE = 1024
_WORKERS = 16
"""The number assumed where an executor does not say its own."""
_LARGE = 2
"""A part of more than so many times the cost of a part goes first."""
_DEATHS = {
    "KilledWorker",
    "WorkerCrashedError",
    "ActorDiedError",
    "NodeDiedError",
    "OutOfMemoryError",
}
"""What Dask and Ray raise for a task whose worker died."""


def ordered(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    executor: Executor,
    *,
    lost: Callable[[Item], Result],
    known: Callable[[Item], Result | None] = lambda item: None,
    sent: Callable[[Item], Item] = lambda item: item,
    cost: Callable[[Item], int] = lambda item: 1,
    part_cost: int = 1,
) -> Iterator[Result]:
    """The results of `function`, in the order of `items`, which are read as needed.

    `known` gives results that need no worker. `sent` makes of an item what is sent to a worker, for example
    with the content of a file. Parts have about `part_cost`. `function`, items and results are pickled; what
    `function` raises is raised here, after the results before it.
    """
    return _Run(function, items, executor, lost, known, sent, cost, part_cost).results()


def workers_of(executor: Executor) -> int:
    """The number of workers now, if an executor says it, else an estimate."""
    for name in ("workers", "num_workers", "_max_workers"):
        number: object = getattr(executor, name, None)
        if isinstance(number, int):
            return number
    return _WORKERS


class _Part(Generic[Item]):
    """Items with their positions, and their cost together."""

    def __init__(self, items: list[tuple[int, Item]], cost: int) -> None:
        self.items = items
        self.cost = cost
        self.has_died = False
        """Whether its worker has died once."""
        self.is_cancelled = False
        """Whether the executor has cancelled it once."""


class _Run(Generic[Item, Result]):
    def __init__(
        self,
        function: Callable[[Item], Result],
        items: Iterable[Item],
        executor: Executor,
        lost: Callable[[Item], Result],
        known: Callable[[Item], Result | None],
        sent: Callable[[Item], Item],
        cost: Callable[[Item], int],
        part_cost: int,
    ) -> None:
        self._function, self._executor = function, executor
        self._lost, self._known, self._sent, self._cost = lost, known, sent, cost
        self._part_cost = part_cost
        self._workers = _WORKERS
        self._code = own_code() if not isinstance(executor, ProcessPool) else None
        self._items = enumerate(items)
        self._all_read = False
        self._read = self._given = 0
        """The numbers of items that have been read, and of results that have been given."""
        self._ends: deque[int] = deque()
        """The last position of each part that has not been given whole, as they were read."""
        self._waiting: list[tuple[int, int, _Part[Item]]] = []
        """A heap of parts, each behind the key of its turn."""
        self._suspects: list[_Part[Item]] = []
        """Parts that have died twice, the next one last."""
        self._is_alone = False
        """Whether a suspect is running."""
        self._submitted: dict[Future[bytes], _Part[Item]] = {}
        self._finished: SimpleQueue[Future[bytes]] = SimpleQueue()
        self._ready: dict[int, Result | Raised] = {}

    def results(self) -> Iterator[Result]:
        try:
            while True:
                self._workers = workers_of(self._executor) or _WORKERS
                while not self._finished.empty():
                    self._receive(self._finished.get())
                self._take()
                self._submit()
                if self._given in self._ready:
                    yield self._next()
                elif self._submitted:
                    self._receive(self._finished.get())
                elif self._all_read:
                    return
        finally:
            for future in self._submitted:
                future.cancel()

    def _next(self) -> Result:
        result = self._ready.pop(self._given)
        if isinstance(result, Raised):
            result.reraise()
        self._given += 1
        while self._ends and self._ends[0] < self._given:
            self._ends.popleft()
        return result

    def _take(self) -> None:
        """Reads items until the window is full."""
        while (
            not self._all_read
            and len(self._ends) < _WINDOW * self._workers
            and self._read - self._given < _AHEAD * self._workers
        ):
            self._take_part()

    def _take_part(self) -> None:
        """Reads the items of one part. What is known is ready, and belongs to none."""
        items: list[tuple[int, Item]] = []
        cost, known = 0, 0
        for position, item in self._items:
            self._read += 1
            result = self._known(item)
            if result is not None:
                self._ready[position] = result
                known += 1
            else:
                items.append((position, item))
                cost += self._cost(item)
            if cost >= self._part_cost or known >= _KNOWN_AT_ONCE:
                break
        else:
            self._all_read = True
        if items:
            self._ends.append(items[-1][0])
            self._wait(_Part(items, cost))

    def _wait(self, part: _Part[Item]) -> None:
        is_large = part.cost > _LARGE * self._part_cost
        heappush(self._waiting, (-part.cost if is_large else 0, part.items[0][0], part))

    def _submit(self) -> None:
        if self._suspects or self._is_alone:
            if not self._submitted:
                self._is_alone = True
                self._start(self._suspects.pop())
            return
        while self._waiting and len(self._submitted) < _SUBMITTED * self._workers:
            self._start(heappop(self._waiting)[-1])

    def _start(self, part: _Part[Item]) -> None:
        data = packed(self._function, [self._sent(item) for _, item in part.items])
        call = call_bytes(run_part, data, self._code)
        future = cast("Future[bytes]", self._executor.submit(pickle.loads, call))
        self._submitted[future] = part
        future.add_done_callback(self._finished.put)

    def _receive(self, future: Future[bytes]) -> None:
        part = self._submitted.pop(future)
        was_alone, self._is_alone = self._is_alone, False
        try:
            answer = future.result()
        except CancelledError:
            if part.is_cancelled:
                raise JobsError("the executor cancels the work that it is given") from None
            part.is_cancelled = True
            if was_alone:
                self._suspects.append(part)
            else:
                self._wait(part)
        except ModuleNotFoundError as error:
            raise JobsError(f"a worker cannot import ptx-lsp {__version__}: {error}") from error
        except Exception as error:
            if not _is_death(error):  # what the function raises arrives as a result
                raise JobsError(f"the executor failed: {type(error).__name__}: {error}") from error
            self._died(part, was_alone)
        else:
            results = cast("list[Result | Raised]", unpacked(answer))
            # what follows one that raises has no result, and needs none
            self._ready.update(zip((position for position, _ in part.items), results, strict=False))

    def _died(self, part: _Part[Item], was_alone: bool) -> None:
        if not was_alone:
            if part.has_died:
                self._suspects.append(part)
            else:
                part.has_died = True
                self._wait(part)
        elif len(part.items) == 1:
            ((position, item),) = part.items
            self._ready[position] = self._lost(item)
        else:
            middle = len(part.items) // 2
            halves = part.items[middle:], part.items[:middle]
            self._suspects.extend(_Part(items, part.cost) for items in halves)


def _is_death(error: Exception) -> bool:
    names = {one.__name__ for one in type(error).__mro__}
    return isinstance(error, BrokenExecutor) or not names.isdisjoint(_DEATHS)
