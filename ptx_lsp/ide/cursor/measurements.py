"""The measurements of ptxas for the kernels of a text, if it ran."""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.lint.results.kernels import with_measured
from ptx_lsp.lint.results.report import Kernel, Measured
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.ptxas import Resources


class Measurements(NamedTuple):
    """The measurements of one release of ptxas, by kernel name."""

    version: str
    of_kernels: Mapping[str, Resources]

    def applied_to(self, row: Kernel) -> Kernel:
        """The metrics of a kernel, with what was measured in place of the estimates."""
        found = self.of_kernels.get(row.name)
        return with_measured(row, found) if found is not None else row

    def registers_text(self, row: Kernel) -> str:
        """`30 registers, 0 spills (ptxas 13.5)`; empty if the registers were not measured."""
        if row.registers.measured is None or row.measured is None:
            return ""
        return f"{row.registers.measured} registers, {_spills(row.measured)} (ptxas {self.version})"


NOT_MEASURED = Measurements("", {})


def _spills(found: Measured) -> str:
    stores, loads = found.spill_store_bytes or 0, found.spill_load_bytes or 0
    return f"spills {stores} bytes, reloads {loads}" if stores or loads else "0 spills"
