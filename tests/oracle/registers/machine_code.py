"""What `nvdisasm -plr` says of the machine code of kernels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_SECTION = re.compile(r"\s*\.section\s+\.text\.([^\s,]+)")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s")
_BRANCH = re.compile(r"\b(?:BRA|BRX)\b[^;]*`?\((\.L_\w+)\)")
_CALL = re.compile(r"\bCALL\.")
_COLUMNS = re.compile(r"// \|(.*)\|\s*$")


class MachineCode(NamedTuple):
    """The largest numbers of live registers by kind, and the size of the code."""

    peaks: dict[str, int]
    """By column of nvdisasm: GPR, PRED, UGPR, UPRED."""
    instructions: int
    loops: int
    """Labels that a later instruction branches to, less the loop of one branch at the end."""
    calls: int
    """For nvdisasm a subroutine returns to all its callers, also in other kernels of the file: the peaks of
    kernels with calls can be too high."""


def disassembled(cubin: Path, nvdisasm: str, timeout_s: float = 60) -> dict[str, MachineCode]:
    """The machine code of a cubin by kernel. Raises OSError and subprocess.SubprocessError."""
    command = [nvdisasm, "-c", "-plr", "-lrm", "count", str(cubin)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout_s)
    return read(done.stdout)


def read(printed: str) -> dict[str, MachineCode]:
    """The machine code of the sections in the output of `nvdisasm -c -plr -lrm count`."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in printed.splitlines():
        if found := _SECTION.match(line):
            lines = sections.setdefault(found[1], [])
        else:
            lines.append(line)
    return {name: _section(lines) for name, lines in sections.items()}


def _section(lines: Sequence[str]) -> MachineCode:
    names: list[str] = []
    peaks: dict[str, int] = {}
    labels: dict[str, int] = {}
    back: set[str] = set()
    count = calls = 0
    for line in lines:
        if label := _LABEL.match(line):
            labels[label[1]] = count
        if _INSTRUCTION.match(line):
            calls += _CALL.search(line) is not None
            branch = _BRANCH.search(line)
            if branch and labels.get(branch[1], count) < count:
                back.add(branch[1])
            count += 1
        columns = _COLUMNS.search(line)
        if columns is None:
            continue
        cells = [cell.strip() for cell in columns[1].split("|")]
        if any(cell.isalpha() for cell in cells):
            names = cells
            peaks = dict.fromkeys(names, 0)
        elif _INSTRUCTION.match(line):
            for name, cell in zip(names, cells, strict=False):
                live = cell.split()
                if live and live[0].isdigit():
                    peaks[name] = max(peaks[name], int(live[0]))
    return MachineCode(peaks, count, len(back), calls)
