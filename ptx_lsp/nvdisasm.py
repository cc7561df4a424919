"""NVIDIA's nvdisasm: finds it, and reads its listings of machine code.

`nvdisasm -c -gi -gp` names the source line and the PTX line before each instruction for which one of them
changes; `-plr -lrm count` counts the live registers at each. The formats were determined by running 13.5; see
docs/ptxas.md.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.ptxas import in_packages

LINES = ("-c", "-gi", "-gp")
"""The options for a listing with source and PTX lines."""
LIVE = ("-c", "-plr", "-lrm", "count")
"""The options for a listing with the numbers of live registers."""
_NAME = "nvdisasm.exe" if os.name == "nt" else "nvdisasm"
_PACKAGES = ("nvidia-cuda-nvdisasm", "nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc-cu12")
_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+),")
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;\s*(?://\s*\|(.*)\|)?\s*$")
_LABEL = re.compile(r"(\.L\w+):")
_LINE = re.compile(r'\s*//## File "(.*?)", line (\d+)(?: inlined at "(.*)", line (\d+))?\s*$')
_HEADING = re.compile(r"\s*//\s*\|(\s*(?:GPR|R)\b.*)\|\s*$")
_PTX = ".nv_debug_ptx_txt"
_KINDS = ("GPR", "PRED", "UGPR", "UPRED")


class SourceLine(NamedTuple):
    """A line of a source, from 1."""

    path: str
    line: int


class LiveRegisters(NamedTuple):
    """The numbers of live registers at an instruction, by kind."""

    general: int
    predicates: int
    uniform: int
    uniform_predicates: int


class MachineInstruction(NamedTuple):
    """An instruction of machine code. `address` is relative to its function. `labels` are before it."""

    address: int
    text: str
    labels: tuple[str, ...]
    ptx_line: int | None
    """From 1."""
    source: tuple[SourceLine, ...]
    """The source line, and where it was inlined, the innermost first."""
    live: LiveRegisters | None = None


def find(ptxas: Path | None = None) -> Path | None:
    """The nvdisasm to use: beside `ptxas`, which has the same release; else on PATH or in a PyPI package."""
    folders = [str(ptxas.parent)] if ptxas is not None else []
    for folder in [*folders, *os.environ.get("PATH", os.defpath).split(os.pathsep)]:
        found = shutil.which(str(Path(folder, _NAME))) if Path(folder).is_absolute() else None
        if found is not None:
            return Path(found)
    return in_packages(_PACKAGES, _NAME)


def read(lines: str, live: str = "") -> dict[str, tuple[MachineInstruction, ...]]:
    """The instructions of each function, from a listing with lines and one with live registers."""
    counts = dict(_live(live))
    found: dict[str, list[MachineInstruction]] = {}
    for name, one in _instructions(lines):
        found.setdefault(name, []).append(one._replace(live=counts.get((name, one.address))))
    return {name: tuple(listed) for name, listed in found.items()}


def _instructions(listing: str) -> Iterator[tuple[str, MachineInstruction]]:
    """The instructions with the names of their functions. A line holds until it changes."""
    name, ptx_line = "", None
    source: tuple[SourceLine, ...] = ()
    chain: list[SourceLine] = []
    labels: list[str] = []
    for text in listing.splitlines():
        if section := _SECTION.match(text):
            name, ptx_line, source = section[1], None, ()
            chain.clear()
            labels.clear()
        elif found := _LINE.match(text):
            if found[1] == _PTX:
                ptx_line = int(found[2])
            else:
                chain.append(SourceLine(found[1], int(found[2])))
                if found[3] is not None:
                    chain.append(SourceLine(found[3], int(found[4])))
        elif instruction := _INSTRUCTION.match(text):
            source = tuple(dict.fromkeys(chain)) or source
            yield name, MachineInstruction(
                int(instruction[1], 16), instruction[2], tuple(labels), ptx_line, source
            )
            chain.clear()
            labels.clear()
        elif label := _LABEL.match(text):
            labels.append(label[1])


def _live(listing: str) -> Iterator[tuple[tuple[str, int], LiveRegisters]]:
    """The numbers of live registers by function and address. Older targets lack uniform registers."""
    name, kinds = "", list[str]()
    for text in listing.splitlines():
        if section := _SECTION.match(text):
            name, kinds = section[1], list[str]()
            continue
        heading, _, columns = text.rpartition("// |")
        if not columns:
            continue
        cells = [cell.strip() for cell in columns.rstrip().rstrip("|").split("|")]
        instruction = _INSTRUCTION.match(heading)
        if instruction is None:
            if not kinds and any(cell in _KINDS for cell in cells):
                kinds = cells
            continue
        counts = {kind: int(cell) for kind, cell in zip(kinds, cells, strict=False) if cell.isdigit()}
        yield (name, int(instruction[1], 16)), LiveRegisters(*(counts.get(kind, 0) for kind in _KINDS))
