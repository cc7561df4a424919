"""The verdicts on the candidates so far, by the hash of their text, and the file in which they are kept.

A reduction depends on verdicts only, so one that was interrupted goes on by starting again with them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

_FILE = "verdicts"
_HEADER = "ptx-reduce 1 "
_DIGITS = 32


class Verdicts:
    """`identity` has all that verdicts depend on. Those in `folder` are used if they belong to it."""

    def __init__(self, folder: Path | None, identity: str) -> None:
        """Raises OSError."""
        self._known: dict[str, bool] = {}
        self._folder = folder
        self._file: BinaryIO | None = None
        if folder is None:
            return
        header = _HEADER + digest(identity.encode())
        folder.mkdir(exist_ok=True)
        path = folder / _FILE
        lines = path.read_text("ascii", "replace").split("\n") if path.exists() else []
        if lines and lines[0] == header:
            self._known = {
                line[:_DIGITS]: line[-1] == "1" for line in lines[1:] if len(line) == _DIGITS + 2
            }
            self._file = path.open("ab")
        else:
            self._file = path.open("wb")
            self._write(header)

    @property
    def count(self) -> int:
        return len(self._known)

    def get(self, key: str) -> bool | None:
        return self._known.get(key)

    def put(self, key: str, verdict: bool) -> None:
        self._known[key] = verdict
        self._write(f"{key} {verdict:d}")

    def close(self, *, remove: bool) -> None:
        """`remove`: the verdicts are not needed any more."""
        if self._file is None or self._folder is None:
            return
        self._file.close()
        if remove:
            (self._folder / _FILE).unlink(missing_ok=True)
            if not any(self._folder.iterdir()):
                self._folder.rmdir()

    def _write(self, line: str) -> None:
        if self._file is not None:
            self._file.write(f"{line}\n".encode())
            self._file.flush()


def digest(data: bytes) -> str:
    """The key of a text."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
