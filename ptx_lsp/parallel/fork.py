"""A copy of this process, which computes one value and ends."""

from __future__ import annotations

import os
import sys
from _thread import _count, start_new_thread

from ptx_lsp.static_typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

_T = TypeVar("_T")


def can_fork() -> bool:
    """Whether a copy of this process can go on: not if another thread may hold a lock, and not on systems
    whose libraries forbid it.
    """
    return sys.platform == "linux" and _count() == 0


class Fork(Generic[_T]):
    """A copy of this process that computes a value, which can be pickled. It has all that this process has
    read and imported, and ends with this process, or with `end`. Raises OSError if none can be made.
    """

    def __init__(self, compute: Callable[[], _T]) -> None:
        self._answer, answer = os.pipe()
        life, self._life = os.pipe()
        here = os.getpid()
        try:
            self._process = os.fork()
            if not self._process:
                os.close(self._answer)
                os.close(self._life)
                _run(compute, answer, life)
        except BaseException:
            if os.getpid() != here:  # Ctrl-C reaches both: one of them reports it
                os._exit(1)
            os.close(self._answer)
            os.close(self._life)
            raise
        finally:
            os.close(answer)
            os.close(life)

    def result(self) -> _T | None:
        """The value; None if the process has failed, which others report."""
        from _pickle import UnpicklingError, load  # `pickle` takes thrice as long to import

        try:
            with open(self._answer, "rb", closefd=False) as answer:
                return load(answer)
        except (EOFError, UnpicklingError):
            return None

    def end(self) -> None:
        """Ends the process, if it has not ended."""
        os.close(self._life)
        os.close(self._answer)
        os.waitpid(self._process, 0)


def _run(compute: Callable[[], object], answer: int, life: int) -> NoReturn:
    """What the copy does. At its end, nothing is written or cleaned up: that is for the original."""
    try:
        start_new_thread(_end_with, (life,))
        found = compute()
        from _pickle import dump

        with open(answer, "wb") as stream:
            dump(found, stream, protocol=5)
    except BaseException:
        os._exit(1)
    os._exit(0)


def _end_with(life: int) -> None:
    """Ends this process when nobody has the other end of the pipe open."""
    os.read(life, 1)
    os._exit(1)
