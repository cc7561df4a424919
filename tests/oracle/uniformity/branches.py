"""The branches of a PTX file with the lines that other tools name them by, and what we say of each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module


class Branch(NamedTuple):
    """A step that control leaves in several ways, in a block of a function; lines count from 1."""

    function: str
    block: int
    line: int
    opcode: str
    level: UniformityLevel
    because: str
    """The last link of the chain of reasons."""


class Recorded(NamedTuple):
    """What another tool says of a branch."""

    file: str
    line: int
    verdict: str


def branches_of(function: Function) -> Iterator[Branch]:
    """Those of one function, in the order of the text."""
    known = uniformity(function)
    source = function.module.document.source
    for block in sorted(known.branches):
        number = known.ssa.cfg.blocks[block].end - 1
        step = known.ssa.instructions.instructions[number]
        line = source.line_of(function.item.start + step.node.start) + 1
        reasons = known.reasons(number)
        because = reasons[-1].text if reasons else ""
        yield Branch(function.name, block, line, step.opcode, known.branches[block], because)


def defined(module: Module) -> list[Function]:
    """The functions that have steps."""
    return [function for function in module.functions if function.body.instructions]


def read(path: Path) -> list[Recorded]:
    """A record: file, line and verdict, with tabs between."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return [Recorded(file, int(line), verdict) for file, line, verdict in rows]


def write(path: Path, rows: list[Recorded]) -> None:
    """Writes a record down."""
    path.write_text("".join(f"{row.file}\t{row.line}\t{row.verdict}\n" for row in sorted(set(rows))))
