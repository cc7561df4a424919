"""The linter's claims against kernels that run: nothing called uniform differs within a warp, and registers
are read unwritten only where the linter says that they may be.

Kernels are the examples, those of the corpus with arguments made up from their parameters, and random ones.
What goes wrong in a launch (an address made of such arguments) ends it; all that was executed before counts.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest

from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.divergence.divergence_sources import UniformityLevel
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo as Read
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.arithmetic.program import Array, Bools
from ptx_lsp.executor.check.finding import Findings
from ptx_lsp.executor.check.registers import UninitializedRegisters
from ptx_lsp.executor.instrumentation.usage import Usages
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.machine.control import Jump, Returned, Step, Unsupported
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import size_bytes
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Variable
from tests.analyses.random_kernels import program

ROOT = Path(__file__).parents[3]
FILES = sorted([*(ROOT / "examples").glob("*.ptx"), *(ROOT / "tests" / "oracle" / "corpus").glob("*.ptx")])
UNIFORM = (UniformityLevel.GRID, UniformityLevel.BLOCK, UniformityLevel.WARP)
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
_STEPS = 1500


class Uniform(Observer):
    """Looks for warps in which lanes that execute an instruction together read different values from a
    register that is called uniform there, or part at a branch that is.
    """

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.seen: Counter[str] = Counter()
        self._usages = Usages()
        self._reads: dict[int, tuple[Function, Read] | None] = {}

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        found = self._of(step)
        if found is None:
            return
        function, read = found
        known = uniformity(function)
        usage = self._usages.of(step)
        guard = read.guard if usage.guard is not None else -1
        for register in usage.reads:
            is_guard = register is usage.guard
            if is_guard and known.guard_level(read.number) in UNIFORM:
                self._compare(wave, step, register.name, wave.registers[register.number], arrived, "guard")
            elif not is_guard:
                number = self._number(function, read, register.name)
                if number != guard and number >= 0 and known.use_level(read.number, number) in UNIFORM:
                    self._compare(wave, step, register.name, wave.registers[register.number], active, "value")
        if usage.opcode == "bra" and usage.guard is not None:
            values = np.broadcast_to(wave.registers[usage.guard.number], wave.shape)
            split = _differs(values, wave.full_mask(arrived)).any()
            self.seen["splits" if split else "together"] += 1

    def _of(self, step: Step) -> tuple[Function, Read] | None:
        """The step as the analyses know it; None for what the executor puts in itself."""
        if id(step) not in self._reads:
            source = step.source
            self._reads[id(step)] = None
            is_put_in = isinstance(step.action, Jump | Returned | Unsupported)
            if source is not None and (source.is_plain or not is_put_in):
                function = source.function
                for one in instructions(function).instructions:
                    if one.node is source.node:
                        self._reads[id(step)] = function, one
        return self._reads[id(step)]

    def _number(self, function: Function, read: Read, name: str) -> int:
        """The number of a register of that name among those that are read; -1 for parts of one."""
        registers = instructions(function).registers
        return next((n for n in read.uses if registers[n].name == name), -1)

    def _compare(
        self, wave: Wave, step: Step, name: str, value: Array, mask: Bools | None, what: str
    ) -> None:
        self.seen[what] += 1
        if value.size > 1 and value.shape[1] > 1:
            differs = _differs(np.broadcast_to(value, wave.shape), wave.full_mask(mask))
            if differs.any():
                self.wrong.append(f"line {step.line}: {name}, a uniform {what}, differs in `{step.text}`")


def _differs(values: Array, mask: Bools) -> Bools:
    """The warps in which lanes of a mask have different values."""
    rows, here = values.reshape(-1, WARP_SIZE), mask.reshape(-1, WARP_SIZE)
    first = np.take_along_axis(rows, here.argmax(axis=1)[:, None], axis=1)
    return np.asarray(((rows != first) & here).any(axis=1), np.bool_)


def checked(text: str, kernel: Function, args: list[Value], seconds: float = 3.0) -> Uniform:
    """Runs a kernel and compares; the observer has what it saw."""
    observer, findings = Uniform(), Findings()
    with suppress(ExecutionError):
        launch(
            text, entry=kernel.name, grid=2, block=_block(kernel), args=args, limit=_STEPS, seconds=seconds,
            shared_bytes=4096, observers=[observer, UninitializedRegisters(findings)],
        )
    suspects = {instructions(kernel).registers[one.register].name for one in uninitialized_reads(kernel)}
    called = {
        one.name
        for function in module_of(kernel).functions if not function.is_kernel
        for one in instructions(function).registers
    }
    for finding in findings.all():
        if finding.variable not in suspects | called:
            observer.wrong.append(f"line {finding.line}: {finding.message}, and the linter is silent")
        observer.seen["unwritten"] += 1
    return observer


def _block(kernel: Function) -> tuple[int, ...]:
    for directive in kernel.node.directives:
        if directive.name.text in (".maxntid", ".reqntid"):
            sizes = [int(text) for text in _numbers(kernel, directive.start, directive.end)]
            return tuple(sizes[:3])
    return (96,)


def _numbers(kernel: Function, start: int, end: int) -> list[str]:
    span = kernel.module.span(Place(kernel.node, start, end))
    text = kernel.module.document.source.data[span.start : span.end].decode()
    return text.split(None, 1)[1].replace(",", " ").split()


def made_up(kernel: Function) -> list[Value]:
    """Arguments: buffers of small numbers for what may be an address, counts for what may be one."""
    found: list[Value] = []
    for parameter in kernel.body.parameters:
        assert isinstance(parameter, Variable)
        size = size_bytes(parameter) or 0
        if parameter.type in (".u64", ".b64", ".s64") and size == 8:
            found.append(np.arange(1 << 14, dtype=np.uint32) % np.uint32(7))
        elif parameter.type in TYPES and size == 4 and not parameter.type.startswith(".f"):
            found.append(np.uint32(64))
        elif parameter.type == ".f32" and size == 4:
            found.append(np.float32(1.5))
        else:
            found.append(bytes(size))
    return found


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_kernels(path: Path) -> None:
    text = path.read_text(encoding="utf-8") + "\n"
    module = Module.parse(text)
    wrong: list[str] = []
    for kernel in module.functions:
        if kernel.is_kernel and kernel.node.body is not None:
            wrong += checked(text, kernel, made_up(kernel)).wrong
    assert wrong == []


def test_enough_is_seen() -> None:
    """Uniform values, uniform and divergent branches: else the above means nothing."""
    seen: Counter[str] = Counter()
    for path in FILES[:12]:
        text = path.read_text(encoding="utf-8") + "\n"
        for kernel in Module.parse(text).functions[:2]:
            if kernel.is_kernel and kernel.node.body is not None:
                seen += checked(text, kernel, made_up(kernel)).seen
    assert min(seen["value"], seen["guard"], seen["splits"], seen["together"]) > 10


@pytest.mark.parametrize("seed", range(8))
def test_random_kernels(seed: int) -> None:
    random = Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(12):
        text = HEADER + program(random).replace("[64]", "[some]").replace(
            ".entry", ".global .u32 some = 5;\n.entry"
        )
        observer = checked(text, Module.parse(text).functions[0], [], 1.0)
        assert observer.wrong == [], text
        seen += observer.seen
    assert min(seen["value"], seen["splits"], seen["together"]) > 1


def test_a_wrong_claim_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.executor.check.test_linter.UNIFORM", tuple(UniformityLevel))
    text = (ROOT / "examples" / "saxpy.ptx").read_text(encoding="utf-8") + "\n"
    kernel = Module.parse(text).functions[0]
    assert any("%r4, a uniform value, differs" in one for one in checked(text, kernel, made_up(kernel)).wrong)
