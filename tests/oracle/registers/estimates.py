"""The kernels of a part with their estimates, beside what ptxas and nvdisasm say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ptx_lsp.analyses.occupancy.launch_bounds import directives_of, launch_bounds_of
from ptx_lsp.analyses.registers.estimated_registers import RegisterEstimate, estimated_registers
from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle.registers.data_set import records
from tests.oracle.registers.truth import Record

Estimator: TypeAlias = Callable[[Function, Target], RegisterEstimate | None]


class Estimated(NamedTuple):
    """A kernel: where it comes from, what is true of it, what is estimated."""

    file: str
    kernel: str
    program: str
    repository: str
    compiler: str
    opt: str
    target: str
    instructions: int
    """Of PTX."""
    threads: int
    """Of a block; 0 where the kernel does not say it."""
    used: int
    live: int | None
    """None where the machine code was not looked at."""
    peak: int
    estimate: int
    low: int
    high: int


def estimates(folder: Path, every: int = 1, workers: int | None = None) -> list[Estimated]:
    """The kernels of `every`-th file of a part, estimated by several processes."""
    tasks = list(records(folder))[::every]
    workers = workers or min(os.cpu_count() or 1, 4)
    if workers == 1 or len(tasks) < 2:
        return [one for task in tasks for one in estimates_of(folder, task)]
    with ProcessPoolExecutor(workers) as pool:
        found = pool.map(partial(estimates_of, folder), tasks, chunksize=4)
        return [one for some in found for one in some]


def estimates_of(folder: Path, record: Record) -> list[Estimated]:
    """The kernels of one file."""
    module = Module(Document.parse(Source((folder / record["file"]).read_bytes())))
    return list(of_module(module, record))


def of_module(
    module: Module, record: Record, estimator: Estimator = estimated_registers
) -> Iterator[Estimated]:
    """The kernels of a module, by this or another estimate."""
    target = parse_target(record["arch"])
    for name, kernel in record["kernels"].items():
        used = kernel.get("registers", 0)
        function = module.definitions.get(name)
        if function is None or target is None or not used:
            continue
        estimate = estimator(function, target)
        if estimate is None:
            continue
        yield Estimated(
            record["file"],
            name,
            record["program"],
            record["repository"],
            record["compiler"],
            record["opt"],
            record["arch"],
            len(function.body.instructions),
            _threads(function, record["arch"]),
            used,
            kernel.get("sass_peak") or None,
            *estimate,
        )


def _threads(function: Function, target: str) -> int:
    try:
        return launch_bounds_of(target, directives_of(function)).threads_per_block or 0
    except ValueError:
        return 0
