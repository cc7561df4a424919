"""Which part of the data set a program belongs to, and which kernels have been seen before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from tests.oracle.registers.truth import Kernel, Record

Part: TypeAlias = Literal["train", "calibration", "fresh"]
PARTS: tuple[Part, ...] = ("train", "calibration", "fresh")
SHARES: tuple[float, ...] = (0.6, 0.2, 0.2)
"""Of all origins, by part."""


def drawn(seed: str, group: str) -> float:
    """A number in [0, 1) that `seed` and `group` alone decide."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{group}".encode()).digest()[:7]) / 2**56


def part_of(seed: str, group: str, shares: Sequence[float] = SHARES) -> Part:
    """The part of all that belongs to `group`: a repository, or a program of a collection."""
    at = drawn(seed, group)
    for part, share in zip(PARTS, shares, strict=True):
        if at < share:
            return part
        at -= share
    return PARTS[-1]


class Seen:
    """The kernels that the data set has, to keep equal ones out."""

    def __init__(self) -> None:
        self._parts: dict[str, Part] = {}
        self._kernels: set[tuple[str, str]] = set()

    def add(self, part: Part, record: Record) -> None:
        """Remembers the kernels of a record."""
        for kernel in record["kernels"].values():
            digest = kernel.get("digest", "")
            self._parts.setdefault(digest, part)
            self._kernels.add((digest, record["arch"]))

    def new(self, part: Part, arch: str, kernels: dict[str, Kernel]) -> dict[str, Kernel]:
        """Those of `kernels` that neither another part nor this one for `arch` has."""
        found: dict[str, Kernel] = {}
        here: set[str] = set()
        for name, kernel in kernels.items():
            digest = kernel.get("digest", "")
            known = (digest, arch) in self._kernels or digest in here
            if not known and self._parts.get(digest, part) == part:
                found[name] = kernel
                here.add(digest)
        return found


def capped(names: Iterable[str], most: int, seed: str) -> list[str]:
    """At most `most` of `names`, drawn by `seed`."""
    return sorted(names, key=lambda name: drawn(seed, name))[:most]
