"""The registers that ptxas says the kernels of this repository use, beside the estimates.

registers.json has the file, the target, the kernel, the registers used and, if known, the most that are live
at once in the machine code. `tests.oracle.registers` measures programs of others.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.analyses.registers.estimated_registers import RegisterEstimate, estimated_registers
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle import corpus

RECORD = Path(__file__).parent / "registers.json"


class Truth(NamedTuple):
    """What ptxas says of one kernel; `peak` is None where the machine code was not looked at."""

    file: str
    target: str
    kernel: str
    used: int
    peak: int | None


def recorded() -> list[Truth]:
    """The kernels of the files of this repository."""
    return [Truth(*row) for row in json.loads(RECORD.read_text())]


def measured() -> list[tuple[Truth, RegisterEstimate]]:
    """Each recorded kernel with its estimate."""
    found: list[tuple[Truth, RegisterEstimate]] = []
    for file, truths in groupby(recorded(), key=lambda truth: truth.file):
        module = Module(Document.parse(Source((corpus.FOLDER / file).read_bytes())))
        for truth in truths:
            estimate = estimated_registers(module.definitions[truth.kernel], parse_target(truth.target))
            assert estimate is not None
            found.append((truth, estimate))
    return found
