"""How far the register estimate is from ptxas, on kernels whose figures are known.

    python -m tests.oracle.accuracy [--corpus FOLDER] [--truth FILE] [--update]

FOLDER holds PTX files, FILE (else FOLDER/truth.jsonl) a JSON object a line with the keys `file`, `arch` and
`kernels`, of each by name the `registers` that ptxas says are used and perhaps `sass_peak`, the most that
are live in its machine code. Without FOLDER the files of this repository are measured, whose figures
are in registers.json. `--update` writes docs/accuracy.md and its plot, and those figures.

The constants of the estimate are found anew for each source, from all kernels of other sources, to see what
they are worth where they were not calibrated; a source is the program that kernels were compiled from, by
whichever compiler and for whichever target.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from statistics import median
from typing import NamedTuple

from analyses import registers
from analyses.launch_bounds import launch_bounds
from analyses.occupancy import occupancy
from ptx_lsp.isa.target import parse_target
from ptx_lsp.model.module import Module
from ptx_lsp.text import Source
from ptx_lsp.syntax.document import Document
from tests.oracle import corpus

RECORD = Path(__file__).parent / "registers.json"
PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"
PLOT = PAGE.with_suffix(".svg")
_USUAL_BLOCK = 256


class Truth(NamedTuple):
    """What ptxas says of one kernel; `peak` is None where the machine code was not looked at."""

    file: str
    target: str
    kernel: str
    used: int
    peak: int | None


class Figures(NamedTuple):
    """One kernel, measured and estimated. `choices` are the estimates with other constants."""

    truth: Truth
    steps: int
    threads: int
    peak: int
    estimate: int
    low: int
    high: int
    choices: tuple[tuple[int, int], ...]

    @property
    def source(self) -> str:
        return self.truth.file.replace("_", "/", 1).rpartition("/")[2].partition(".")[0]

    @property
    def folder(self) -> str:
        return self.truth.file.replace("_", "/", 1).partition("/")[0]
