"""The kernels of parts of the data set with what the correction is trained on: features, and the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.analyses.registers.correction import Factors
from ptx_lsp.analyses.registers.estimated_registers import (
    UNCORRECTED,
    RegisterEstimate,
    with_factors,
)
from ptx_lsp.analyses.registers.features import Features, register_features
from ptx_lsp.analyses.registers.simulated_registers import SimulatedRegisters, simulated_registers
from ptx_lsp.isa.target import Target, parse_target
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source
from tests.oracle.registers.data_set import records
from tests.oracle.registers.estimates import Estimated, of_module
from tests.oracle.registers.figures import origin
from tests.oracle.registers.truth import Record


class Sample(NamedTuple):
    """A kernel that the correction applies to."""

    estimated: Estimated
    simulated: SimulatedRegisters
    features: Features
    is_calibration: bool
    """Whether the part of the kernel is for the intervals: nobody looked at it while simulating."""

    @property
    def origin(self) -> str:
        return origin(self.estimated)

    def estimate(self, by: Factors) -> RegisterEstimate:
        """The estimate with these factors."""
        return with_factors(self.simulated, by)

    def corrected(self, by: Factors) -> Estimated:
        """The kernel with the estimate that these factors give."""
        found = self.estimate(by)
        return self.estimated._replace(
            peak=found.peak_live, estimate=found.estimate, low=found.low, high=found.high
        )


def samples(folders: Sequence[Path], calibration: Sequence[Path], jobs: int) -> list[Sample]:
    """The kernels of all these parts, in an order that does not depend on when they were added."""
    found: list[Sample] = []
    with ProcessPoolExecutor(jobs) as pool:
        for folder in (*folders, *calibration):
            read = partial(_of_file, folder, folder in calibration)
            found += [one for some in pool.map(read, list(records(folder)), chunksize=4) for one in some]
    return sorted(found, key=lambda one: (one.estimated.file, one.estimated.target, one.estimated.kernel))


def origins(rows: Iterable[Sample]) -> list[str]:
    """The repositories (or programs of collections) of some kernels."""
    return sorted({row.origin for row in rows})


def _simulated(function: Function, target: Target) -> RegisterEstimate | None:
    found = simulated_registers(function, target)
    return with_factors(found, UNCORRECTED) if found is not None else None


def _of_file(folder: Path, is_calibration: bool, record: Record) -> list[Sample]:
    module = Module(Document.parse(Source((folder / record["file"]).read_bytes())))
    found: list[Sample] = []
    for row in of_module(module, record, _simulated):  # the correction may be of other features
        function = module.definitions[row.kernel]
        simulated = simulated_registers(function, parse_target(row.target))
        if simulated is not None and simulated.spread != "debug":
            features = register_features(function, simulated)
            found.append(Sample(row, simulated, features, is_calibration))
    return found
