"""The verdicts on the candidates so far, by the hash of their text, and the file in which they are kept.

A reduction depends on verdicts only, so one that was interrupted goes on by starting again with them.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

_SUFFIX = ".verdicts"
_DIGITS = 32


class Verdicts:
    """`identity` has all that verdicts depend on; each has its own file in `folder`, so that
    reductions at the same time do not mix theirs.
    """

    def __init__(self, folder: Path | None, identity: str) -> None:
        """Raises OSError."""
        self._known: dict[str, bool] = {}
        self._folder = folder
        self._file: BinaryIO | None = None
        if folder is None:
            return
        folder.mkdir(exist_ok=True)
        path = folder / f"{digest(identity.encode())}{_SUFFIX}"
        lines = path.read_text("ascii", "replace").split("\n") if path.exists() else []
        self._known = {
            line[:_DIGITS]: line[-1] == "1" for line in lines if len(line) == _DIGITS + 2
        }
        self._file = path.open("ab")

    @property
    def count(self) -> int:
        return len(self._known)

    def get(self, key: str) -> bool | None:
        return self._known.get(key)

    def put(self, key: str, verdict: bool) -> None:
        self._known[key] = verdict
        self._write(f"{key} {verdict:d}")

    def close(self, *, remove: bool) -> None:
        """`remove`: no verdicts in the folder are needed any more."""
        if self._file is None or self._folder is None:
            return
        self._file.close()
        if remove:
            for path in self._folder.glob(f"{'[0-9a-f]' * _DIGITS}{_SUFFIX}"):
                path.unlink(missing_ok=True)
            with suppress(OSError):  # others have files there, or have removed it
                self._folder.rmdir()

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(f"{line}\n".encode())
            self._file.flush()


def digest(data: bytes) -> str:
    """The key of a text."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
