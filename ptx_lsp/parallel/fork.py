"""Copies of this process, each of which computes one value and ends."""

from __future__ import annotations

import os
import sys
from _thread import start_new_thread
from contextlib import suppress

from ptx_lsp.static_typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import NoReturn, Self

_T = TypeVar("_T")


def can_fork() -> bool:
    """Whether a copy of this process can go on: not if another thread may hold a lock, and not on systems
    whose libraries forbid it.
    """
    threads = "/proc/self/task"
    return sys.platform == "linux" and len(os.listdir(threads)) == 1  # noqa: PTH208 (slow to import)


class Forks(Generic[_T]):
    """Copies of this process. They have all that it has read and imported when they are made, and end with
    this process, or at the end of the context.
    """

    def __init__(self) -> None:
        self._started: list[tuple[int, int]] = []
        """The process of each, and where it writes its value."""
        self._life = os.pipe()
        """Only this process has the writing end; the others see when it is closed."""

    def __enter__(self) -> Self:
        return self

    def start(self, compute: Callable[[], _T]) -> None:
        """Makes one that computes a value, which can be pickled. Raises OSError if none can be made."""
        reader, writer = os.pipe()
        here = os.getpid()
        try:
            process = os.fork()
            if not process:
                self._run(compute, writer)
            self._started.append((process, reader))
        except BaseException:
            if os.getpid() != here:  # Ctrl-C reaches both: one of them reports it
                os._exit(1)
            os.close(reader)
            raise
        finally:
            os.close(writer)

    def results(self) -> Iterator[_T | None]:
        """The value of each, in order; None if its process has failed."""
        from _pickle import UnpicklingError, load  # `pickle` takes thrice as long to import

        for _, reader in self._started:
            with open(reader, "rb", closefd=False) as stream:
                try:
                    yield load(stream)
                except (EOFError, UnpicklingError):
                    yield None

    def __exit__(self, *_: object) -> None:
        for end in self._life:
            os.close(end)
        for process, reader in self._started:
            os.close(reader)
            with suppress(ChildProcessError):  # where SIGCHLD is ignored, none is to be waited for
                os.waitpid(process, 0)

    def _run(self, compute: Callable[[], _T], writer: int) -> NoReturn:
        """What a copy does. At its end, nothing is written or cleaned up: that is for the original."""
        try:
            life, other = self._life
            os.close(other)
            start_new_thread(_end_with, (life,))
            found = compute()
            from _pickle import dump

            with open(writer, "wb") as stream:
                dump(found, stream, protocol=5)
        except BaseException:
            os._exit(1)
        os._exit(0)


def _end_with(life: int) -> None:
    """Ends this process when nobody has the other end of the pipe open."""
    os.read(life, 1)
    os._exit(1)
