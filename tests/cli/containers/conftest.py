"""Fat binaries for tests, made byte by byte."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.cli.conftest import BAD, GOOD, HEADER


def fat_binary(*texts: tuple[int, str], options: str = "") -> bytes:
    """A fat binary with uncompressed PTX for some targets, such as `(90, text)`, and options for ptxas."""
    entries = b"".join(_entry(target, text.encode(), options=options) for target, text in texts)
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(entries)) + entries


def machine_code(target: int) -> bytes:
    """A fat binary with nothing but machine code, whatever it is."""
    entry = _entry(target, b"machine code", kind=2)
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(entry)) + entry


def _entry(target: int, data: bytes, kind: int = 1, options: str = "") -> bytes:
    data += b"\0" * (-len(data) % 8)
    recorded = b""
    if options:
        text = options.encode() + b"\0"
        recorded = struct.pack("<II", 72, len(options)) + text + b"\0" * (-len(text) % 8)
    head = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, 64 + len(recorded), len(data), 0, 64 if options else 0, 0, 8,
        target, 0, 0, 1, 0, 0,
    )  # fmt: skip
    return head + recorded + data


def kernel(name: str, target: int = 80, body: str = "") -> str:
    header = HEADER.replace("sm_80", f"sm_{target}")
    return f"{header}.visible .entry {name}()\n{{\n\t.reg .b32 %r<4>;\n{body}\tret;\n}}\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with `lib.fatbin`: `1:sm_80` has an error in line 7, `2:sm_90` has none."""
    monkeypatch.chdir(tmp_path)
    Path("lib.fatbin").write_bytes(fat_binary((80, BAD), (90, GOOD.replace("sm_80", "sm_90"))))
    return tmp_path
