"""All checks together."""

from __future__ import annotations

from random import Random

from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.check.bounds import VariableBounds
from ptx_lsp.executor.check.callees import Callees
from ptx_lsp.executor.check.cluster import EarlyArrivals, ExitedBlocks
from ptx_lsp.executor.check.divergence import Divergence
from ptx_lsp.executor.check.division import DivisionByZero
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.heap import HeapUse
from ptx_lsp.executor.check.members import Members
from ptx_lsp.executor.check.memory import UninitializedMemory
from ptx_lsp.executor.check.mismatch import BarrierMismatch
from ptx_lsp.executor.check.races.race_report import RaceReport
from ptx_lsp.executor.check.races.races import Races
from ptx_lsp.executor.check.races.weak_memory import WeakMemory
from ptx_lsp.executor.check.registers import UninitializedRegisters
from ptx_lsp.executor.check.returns import Returns
from ptx_lsp.executor.check.rounds import Rounds
from ptx_lsp.executor.check.synchronization import Synchronization
from ptx_lsp.executor.check.tensor_cores.tensor_memory import TensorAccesses
from ptx_lsp.executor.check.tensor_cores.wgmma import WarpgroupRegisters
from ptx_lsp.executor.check.variables import Variables
from ptx_lsp.executor.check.waits import Waits
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.errors import ExecutionError, Finding
from ptx_lsp.executor.machine.observer import Observers
from ptx_lsp.executor.machine.wave import Wave


class Checker(Observers):
    """Runs all checks of this package; `findings` has the results."""

    def __init__(
        self, usages: Usages | None = None, weak: Random | None = None, *, benign: bool = False
    ) -> None:
        """`usages` are those of an earlier launch of the same kernel. `weak` chooses which loads see older
        values. With `benign`, benign races are noted.
        """
        self._findings = Findings(usages)
        self._step: Step | None = None
        variables, rounds = Variables(), Rounds()
        self.weak = None if weak is None else WeakMemory(weak)
        synchronization = Synchronization(self._findings, self.weak)
        super().__init__((
            variables,
            rounds,
            UninitializedRegisters(self._findings),
            UninitializedMemory(self._findings, variables),
            VariableBounds(self._findings, variables),
            HeapUse(self._findings),
            DivisionByZero(self._findings),
            Divergence(self._findings, rounds),
            BarrierMismatch(self._findings),
            Members(self._findings, rounds),
            EarlyArrivals(self._findings),
            ExitedBlocks(self._findings, variables),
            Returns(self._findings),
            Callees(self._findings),
            Waits(self._findings),
            synchronization,
            *(() if self.weak is None else (self.weak,)),
            Races(RaceReport(self._findings, variables, benign=benign), synchronization),
            TensorAccesses(self._findings, synchronization),
            WarpgroupRegisters(self._findings),
        ))

    @property
    def usages(self) -> Usages:
        return self._findings.usages

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._findings.all()

    @property
    def count(self) -> int:
        """How many findings there are."""
        return len(self._findings)

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        self._step = step
        super().before(wave, step, arrived, active)

    def stopped(self, error: ExecutionError) -> None:
        """Adds the error that stopped the kernel to the findings."""
        self._findings.stopped(error, self._step)
