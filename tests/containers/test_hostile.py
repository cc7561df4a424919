"""Damaged containers raise nothing but ContainerError, and opening one costs in proportion to its size.

`tests.containers.fuzz` tries more mutations. Cost is the number of calls, of Python and of C.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest
import zstandard

from ptx_lsp.containers import registry
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container
from tests.containers.crafted import ZSTD, archive, entry, fat_binary, zstd_entry
from tests.containers.fuzz import mutated, originals, outcome

_MOST = 2.5
_NUMBER = 500


def test_mutations(tmp_path: Path) -> None:
    path = tmp_path / "container"
    outcomes: set[str] = set()
    for number in range(_NUMBER):
        path.write_bytes(mutated(number))
        outcomes.add(outcome(path))
    assert outcomes == {"rejected", "unknown", "damaged", "readable", "without PTX"}


def test_every_beginning_of_a_container(tmp_path: Path) -> None:
    """The last bytes of some are padding."""
    path = tmp_path / "container"
    whole = min(originals(), key=len)
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert outcome(path) in ("unknown" if size < 4 else "rejected", "without PTX", "damaged")


def elf(sections: int, name: bytes) -> bytes:
    """An ELF file with this number of sections of one name."""
    names = b"\0" + name + b"\0"
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64, 0, 64, 0, 0, 64, sections + 2, 1)
    row = struct.Struct("<IIQQQQIIQQ")
    table = row.pack(*[0] * 10) + row.pack(0, 3, 0, 0, 64 * (sections + 3), len(names), 0, 0, 1, 0)
    return header + table + row.pack(1, 1, 0, 0, 0, 0, 0, 0, 1, 0) * sections + names


def group(number: int) -> bytes:
    """Entries without text that are compressed together."""
    table = b"".join(entry(b"", target=one)[:4] + bytes(60) for one in range(number))
    payload = zstandard.ZstdCompressor().compress(bytes(8))
    payload += bytes(-len(payload) % 8)
    header = 64 + 8 + len(table)
    return (
        struct.pack(
            "<HHIQIIHHIIIQQQ",
            256,
            0x101,
            header,
            len(payload),
            len(payload),
            64,
            0,
            0,
            0,
            0,
            0,
            ZSTD,
            0,
            8,
        )
        + struct.pack("<II", number, len(table))
        + table
        + payload
    )


SHAPES: dict[str, Callable[[int], bytes]] = {
    "entries": lambda number: fat_binary(entry(b"") * number),
    "groups": lambda number: fat_binary(group(4) * number),
    "members of a group": lambda number: fat_binary(group(number)),
    "fat binaries": lambda number: fat_binary(entry(b"")) * number,
    "padding": lambda number: fat_binary() + bytes(number << 12) + b"end",
    "files of an archive": lambda number: archive(*[(b"a.o", fat_binary(entry(b"")))] * number),
    "object files of an archive": lambda number: archive(
        *[(b"a.o", elf(3, b".nv_fatbin"))] * number
    ),
    "sections": lambda number: elf(number, b".nv_fatbin"),
    "other sections": lambda number: elf(number, b".text"),
    "sections with long names": lambda number: elf(number, b".nv_fatbin" * number),
    "archives in archives": lambda number: nested(number),
}


def nested(depth: int) -> bytes:
    data = fat_binary(entry())
    for _ in range(depth):
        data = archive((b"a.a", data))
    return data


@pytest.mark.parametrize("shape", SHAPES)
def test_cost(shape: str, tmp_path: Path) -> None:
    costs = [_cost(SHAPES[shape](number), tmp_path / "container") for number in (50, 100)]
    assert costs[1] <= _MOST * costs[0]


def _cost(data: bytes, path: Path) -> int:
    path.write_bytes(data)
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    open_or_reject(path)  # modules are imported once
    sys.setprofile(count)
    try:
        open_or_reject(path)
    finally:
        sys.setprofile(None)
    return calls


def open_or_reject(path: Path) -> None:
    with suppress(ContainerError):
        open_container(str(path))


def test_sections_that_overlap_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "container"
    data = elf(3, b".nv_fatbin")
    one, other = 64 * 3 + 24, 64 * 4 + 24
    for place, offset, size in ((one, 0, 64), (other, 63, 64)):
        data = data[:place] + struct.pack("<QQ", offset, size) + data[place + 16 :]
    path.write_bytes(data)
    with pytest.raises(ContainerError, match="its sections overlap"):
        open_container(str(path))


def test_the_number_of_entries_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_MOST_ENTRIES", 3)
    path = tmp_path / "container"
    path.write_bytes(fat_binary(entry() * 4))
    found = open_container(str(path))
    assert found is not None
    assert len(found.members) == 3
    assert found.notes == ("has more than 3 entries; the others are left out",)


def test_the_size_of_all_members_is_limited(tmp_path: Path) -> None:
    path = tmp_path / "container"
    path.write_bytes(fat_binary(zstd_entry(bytes(64 << 20)) * 300))
    found = open_container(str(path))
    assert found is not None
    assert len(found.members) == 256
    assert found.notes == ("has more than 16 GiB of PTX; the rest is left out",)
