"""The data set on the disk: for each part a folder of PTX files with `truth.jsonl`, which only grows."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

from tests.oracle.registers.parts import PARTS, Part, Seen
from tests.oracle.registers.truth import Record

TRUTH = "truth.jsonl"
_LOCK = "lock"


def records(folder: Path) -> Iterator[Record]:
    """The records of a part. A last line that was not written to its end is left out."""
    truth = folder / TRUTH
    if not truth.exists():
        return
    with truth.open("rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield json.loads(line)


class DataSet:
    """The parts below a folder. Adding goes on where the last run was ended."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = Seen()
        self.files: set[str] = set()
        for part in PARTS:
            _mend(folder / part / TRUTH)
            for record in records(folder / part):
                self.seen.add(part, record)
                self.files.add(record["file"])

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keeps other runs out. Raises ValueError if there is one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("w") as lock:
            try:
                flock(lock, LOCK_EX | LOCK_NB)
            except BlockingIOError:
                raise ValueError(f"{self.folder}: another run adds to this data set") from None
            yield

    def add(self, part: Part, record: Record, text: str) -> int:
        """Adds a file and those of its kernels that are new; says how many they are."""
        kernels = self.seen.new(part, record["arch"], record["kernels"])
        if not kernels or record["file"] in self.files:
            return 0
        kept = record.copy()
        kept["kernels"] = kernels
        path = self.folder / part / record["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        with (self.folder / part / TRUTH).open("ab", buffering=0) as truth:
            truth.write(json.dumps(kept).encode() + b"\n")
        self.seen.add(part, kept)
        self.files.add(record["file"])
        return len(kernels)


def _mend(truth: Path) -> None:
    """Removes a last line that was not written to its end."""
    if not truth.exists():
        return
    with truth.open("r+b") as file:
        whole = file.read()
        if whole and not whole.endswith(b"\n"):
            file.truncate(whole.rfind(b"\n") + 1)
            file.flush()
            os.fsync(file.fileno())
