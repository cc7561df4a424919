"""Instructions of tests/conformance as native code, beside what NumPy computes from the same registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ptx_lsp.executor.arithmetic.program import BOOL, Array, Bools, DType
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.launching.instruction_harness import InstructionHarness
from ptx_lsp.executor.machine.control import Step
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.native.compiler import MachineCode
from ptx_lsp.executor.native.ir import Code, NotLoweredError, Value, vector_of, vector_type
from ptx_lsp.executor.native.programs import lowered
from ptx_lsp.executor.native.traced import Traced
from tests.executor.conformance.lines import Line

_LANES = 32


@dataclass(frozen=True, eq=False)
class Computed:
    """An instruction: the registers that it reads, and what NumPy computes from them."""

    spelling: str
    action: Compute
    inputs: dict[int, Array]
    outputs: list[Array]


class _Recorder(Observer):
    """Keeps the registers before an instruction, and after it."""

    def __init__(self, spelling: str) -> None:
        self._spelling = spelling
        self.found: list[Computed] = []

    def before(self, wave: Wave, step: Step, arrived: Bools | None, active: Bools | None) -> None:
        action, source = step.action, step.source
        if not isinstance(action, Compute) or source is None or source.node.opcode.text != self._spelling:
            return
        inputs = {number: _whole(wave.broadcast(wave.registers[number])) for number in action.program.reads}
        with np.errstate(all="ignore"):
            outputs = [_whole(wave.broadcast(one)) for one in action.program.run(wave.registers)]
        self.found.append(Computed(self._spelling, action, inputs, outputs))


def _whole(value: Array) -> Array:
    return np.array(value).reshape(-1)


def computed(groups: Sequence[tuple[list[Line], InstructionHarness]]) -> list[Computed]:
    """The instructions of kernels that only compute."""
    found: list[Computed] = []
    for group, kernel in groups:
        recorder = _Recorder(group[0].spelling)
        kernel.run(observers=[recorder])
        found += recorder.found[-1:]
    return found


def differences(instructions: Sequence[Computed]) -> tuple[list[str], list[str]]:
    """Where native code computes something else, and the instructions for which there is none."""
    texts: list[str] = []
    lowers: list[tuple[int, Computed]] = []
    left: list[str] = []
    declarations: dict[str, str] = {}
    for number, one in enumerate(instructions):
        code = Code()
        try:
            _write(code, one)
        except NotLoweredError as why:
            left.append(f"{one.spelling} ({why})")
            continue
        lowers.append((number, one))
        texts += [f"define i64 @f{number}(ptr %given) {{", "entry:", *code.slots, *code.lines, "}"]
        declarations |= code.declarations
    machine = MachineCode("\n".join([*texts, *declarations.values()]))
    return [text for number, one in lowers for text in _differing(machine, f"f{number}", one)], left


def _write(code: Code, one: Computed) -> None:
    """A function that computes the results of 32 lanes."""
    pointers = (code.load("ptr", code.offset(Value("ptr", "%given"), 8 * at), 8) for at in range(64))
    inputs = dict(zip(one.inputs, pointers, strict=False))

    def register(number: int) -> Traced:
        dtype = one.inputs[number].dtype
        value = code.load(_kept(dtype), inputs[number], dtype.itemsize)
        if dtype == BOOL:
            value = code.compare("icmp ne", value, 0)
        return Traced(code, value, dtype)

    values = lowered(code, one.action.program, register)
    for value, at, array in zip(values, pointers, one.outputs, strict=False):
        if array.dtype == BOOL:
            value = code.convert("zext", value, vector_of("i8"))
        code.store(value, at, array.dtype.itemsize)
    code.do("ret i64 0")


def _kept(dtype: DType) -> str:
    return vector_of("i8") if dtype == BOOL else vector_type(dtype)


def _differing(machine: MachineCode, name: str, one: Computed) -> Iterator[str]:
    function = machine.function(name)
    count = next(iter(one.outputs)).size
    for first in range(0, count, _LANES):
        inputs = [_padded(array[first : first + _LANES]) for array in one.inputs.values()]
        outputs = [np.zeros(_LANES, array.dtype) for array in one.outputs]
        given = np.array([array.ctypes.data for array in (*inputs, *outputs)], np.int64)
        function(given.ctypes.data, 0)
        for got, array in zip(outputs, one.outputs, strict=True):
            want = array[first : first + _LANES]
            for lane in np.flatnonzero(got[: want.size] != want).tolist():
                values = ", ".join(hex(int(array[lane])) for array in inputs)
                yield f"{one.spelling} {values}: {int(got[lane]):#x}, not {int(want[lane]):#x}"


def _padded(array: Array) -> Array:
    whole = np.zeros(_LANES, array.dtype)
    whole[: array.size] = array
    return whole
