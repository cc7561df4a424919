"""Opens damaged containers: `python -m tests.containers.fuzz [NUMBER [FIRST]]`.

Each is one of those in `data/`, or a crafted one, with one to four mutations. Most change a field that the
format defines: a size, an offset, a number, a flag, or bytes of a compressed payload. Number N is always the
same container. Nothing but ContainerError may be raised.
"""

from __future__ import annotations

import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container
from tests.containers.crafted import archive, entry, fat_binary, windows_library, windows_object
from tests.containers.make import DATA, MEMBERS

MAGIC = b"\x50\xed\x55\xba"
_VALUES = (0, 1, 2, 7, 8, 15, 16, 63, 64, 80, 255, 256, 0x2000, 0x8000, 0xFFFF, 1 << 20, 1 << 26)
_HUGE = ((1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

Field = tuple[int, int]
"""The offset and the size of a number."""


@cache
def originals() -> tuple[bytes, ...]:
    """The containers to damage."""
    recorded = [path.read_bytes() for path in sorted(DATA.iterdir()) if path != MEMBERS]
    plain, together = (
        (DATA / name).read_bytes() for name in ("none.fatbin", "together_size.fatbin")
    )
    return (
        *recorded,
        windows_library(plain + bytes(24)),
        windows_object(plain),
        archive(
            (b"a.o", (DATA / "add.o").read_bytes()),
            (b"#1/8", b"name.o\0\0" + together),
            (b"b.o/", plain),
        ),
        fat_binary(*(entry(kind=kind) for kind in (1, 2, 8, 16, 64, 128)), entry(flags=0x1_0000)),
    )


@cache
def fields(data: bytes) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """The numbers that the formats of a container define, and the places of its payloads."""
    numbers: list[Field] = []
    payloads: list[Field] = []
    for start in _places(data, MAGIC):
        numbers += [(start, 4), (start + 4, 2), (start + 6, 2), (start + 8, 8)]
        end = min(start + 16 + int.from_bytes(data[start + 8 : start + 16], "little"), len(data))
        position = start + 16
        while position + 64 <= end:
            _, _, header, padded = struct.unpack_from("<HHIQ", data, position)
            sizes = (2, 2, 4, 8, 4, 4, 2, 2, 4, 4, 4, 8, 8, 8)
            offset = position
            for size in sizes:
                numbers.append((offset, size))
                offset += size
            numbers += [(place, 4) for place in range(offset, position + header, 4)]
            payloads.append((position + header, padded))
            position += header + padded
    for start in _places(data, b"\x7fELF"):
        numbers += [
            (start + 4, 1),
            (start + 5, 1),
            (start + 16, 2),
            (start + 18, 2),
            (start + 40, 8),
        ]
        numbers += [(start + offset, 2) for offset in range(52, 64, 2)] * 4
        table, _, _, _, _, _, number, _ = struct.unpack_from(
            "<QIHHHHHH", data[start:].ljust(64, b"\0"), 40
        )
        for section in range(number):
            header = start + table + 64 * section
            numbers += [(header, 4), (header + 4, 4)]
            numbers += [(header + offset, 8) for offset in (8, 24, 32, 40, 56)]
    if data.startswith(b"MZ"):
        numbers += [(offset, 4) for offset in range(0x3C, 128, 4)] * 4
    if data.startswith(b"\x64\x86"):
        numbers += [(0, 2), (2, 2), (16, 2)] + [(offset, 4) for offset in range(4, 60, 4)] * 2
    if data.startswith(b"!<arch>"):
        for end in _places(data, b"`\n"):
            numbers += [(end - 10, 1), (end - 9, 1), (end - 8, 2), (end - 58, 4), (end - 57, 2)] * 4
    inside = [one for one in numbers if one[0] + one[1] <= len(data)]
    return tuple(inside), tuple(one for one in payloads if one[1] and sum(one) <= len(data))


def _places(data: bytes, pattern: bytes) -> Iterator[int]:
    at = data.find(pattern)
    while at >= 0:
        yield at
        at = data.find(pattern, at + 1)


def mutated(number: int) -> bytes:
    """The damaged container with a number."""
    chance = random.Random(number)
    original = chance.choice(originals())
    data = bytearray(original)
    for _ in range(chance.choice((1, 1, 2, 3, 4))):
        chance.choice(_MUTATIONS)(data, original, chance)
    return bytes(data)


def _change_field(data: bytearray, original: bytes, chance: random.Random) -> None:
    numbers, _ = fields(original)
    if not numbers:
        return
    offset, size = chance.choice(numbers)
    old = int.from_bytes(data[offset : offset + size], "little")
    value = chance.choice((
        chance.choice(_VALUES), chance.choice(_HUGE), old + chance.choice((-16, -8, -1, 1, 8, 16)), old * 2,
        old // 2, old ^ 1 << chance.randrange(size * 8), len(data), len(data) - offset, offset,
        chance.randrange(1 << size * 8),
    ))  # fmt: skip
    if original.startswith(b"!<arch>") and chance.random() < 0.5:
        value = int.from_bytes(
            chance.choice((b"9999999999", b"0", b"-1", b"/999", b"//", b"/0", b"#1/9999")), "little"
        )
    data[offset : offset + size] = (value % (1 << size * 8)).to_bytes(size, "little")


def _copy_field(data: bytearray, original: bytes, chance: random.Random) -> None:
    numbers, _ = fields(original)
    if numbers:
        (source, size), (target, _) = chance.choice(numbers), chance.choice(numbers)
        data[target : target + size] = data[source : source + size]


def _change_payload(data: bytearray, original: bytes, chance: random.Random) -> None:
    _, payloads = fields(original)
    if payloads:
        offset, size = chance.choice(payloads)
        for _ in range(chance.choice((1, 1, 4, 32))):
            place = offset + chance.randrange(min(size, chance.choice((8, 32, 1 << 20))))
            if place < len(data):
                data[place] = chance.randrange(256)


def _change_bytes(data: bytearray, original: bytes, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 4, 64)) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)


def _cut(data: bytearray, original: bytes, chance: random.Random) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _remove(data: bytearray, original: bytes, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    del data[start : start + chance.choice((1, 8, 64, 1000))]


def _repeat(data: bytearray, original: bytes, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    piece = data[start : start + chance.choice((1, 8, 64, 1000))]
    data[start:start] = piece * chance.choice((1, 2, 50))


def _insert(data: bytearray, original: bytes, chance: random.Random) -> None:
    start = chance.randrange(len(data) + 1)
    other = chance.choice(originals())
    data[start:start] = chance.choice((other, bytes(chance.choice((8, 4096))), b"\xff" * 64))


_MUTATIONS: tuple[Callable[[bytearray, bytes, random.Random], None], ...] = (
    *[_change_field] * 8, *[_change_payload] * 3, _copy_field, _copy_field, _change_bytes, _cut,
    _remove, _repeat, _insert,
)  # fmt: skip


def outcome(path: Path) -> str:
    """Opens a container and reads all members, and says how that ended. Raises nothing."""
    try:
        found = open_container(str(path))
    except ContainerError as error:
        _check_line(error)
        return "rejected"
    if found is None:
        return "unknown"
    assert [one.name.partition(":")[0] for one in found.members] == [
        str(number) for number in range(1, len(found.members) + 1)
    ]
    damaged = bool(found.damage)
    for line in found.notes:
        assert line and line.isprintable(), line
    for one in found.members:
        try:
            assert len(one.read()) <= one.size
        except ContainerError as error:
            _check_line(error)
            damaged = True
    return "damaged" if damaged else "readable" if found.members else "without PTX"


def _check_line(error: ContainerError) -> None:
    assert str(error) and str(error).isprintable(), str(error)


def main(number: int = 100_000, first: int = 0) -> None:
    """Tries many, and prints what became of them, the slowest, and the peak of memory."""
    outcomes = Counter[str]()
    slowest = (0.0, -1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "container"
        for one in range(first, first + number):
            path.write_bytes(mutated(one))
            started = time.process_time()
            outcomes[outcome(path)] += 1
            slowest = max(slowest, (time.process_time() - started, one))
            if one % 10_000 == 9_999:
                print(one + 1, dict(outcomes), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{number} mutations: {dict(outcomes)}")
    print(f"slowest {slowest[0]:.3f} s (number {slowest[1]}), peak {peak} MiB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
