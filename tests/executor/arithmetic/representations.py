"""Instructions executed with operands kept in every way that the executor has.

1. A register is an array of blocks by threads, of length 1 where all blocks, or all threads of a block, have
   the same value.
2. An operand can be a constant of the instruction, where the table admits one.
3. What an instruction gives must not depend on either. NumPy has other machine code for one number than for
   many, and what does not depend on lanes is computed before the kernel runs: each may be wrong alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

import numpy as np

from ptx_lsp.executor.decoding.decode import decode
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.launching.instruction_harness import CARRY, HEADER, register_type
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.data_segment import ModuleMemory, Resident
from ptx_lsp.executor.machine.launch_config import LaunchConfig
from ptx_lsp.executor.machine.memory import Memory
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import fill_special_registers
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import Module, module_of
from tests.executor.conformance.lines import Line, mask

Results = tuple[int, ...]

_BLOCKS, _THREADS = 2, 32
_SHAPES = {"grid": (1, 1), "block": (_BLOCKS, 1), "thread": (1, _THREADS), "lane": (_BLOCKS, _THREADS)}
_LAUNCH = LaunchConfig((_BLOCKS, 1, 1), (_THREADS, 1, 1), 0, 0, 0)


def by_shape(groups: Sequence[Sequence[Line]]) -> Iterator[tuple[Line, str, set[Results]]]:
    """For each line, and each combination of shapes of its operands, what its lanes found. The lines of a
    group have the same spelling and constants.
    """
    executions = _Executions([(group[0], _operands(group[0], ())) for group in groups])
    for number, group in enumerate(groups):
        read = [at for at, type in enumerate(group[0].types) if type != "#"]
        for shapes in _combinations(len(read)):
            given = dict(zip(read, shapes, strict=True))
            for line in group:
                yield line, " ".join(shapes), executions.run(number, line, given)


def by_constant(lines: Sequence[Line]) -> Iterator[tuple[Line, str, set[Results]]]:
    """The same for all operands as constants, and each alone, where the table admits that."""
    written: list[tuple[Line, list[str]]] = []
    for line in lines:
        read = [at for at, type in enumerate(line.types) if type not in ("#", CARRY)]
        fixed = dict.fromkeys([tuple(read), *((at,) for at in read)])
        written += [(line, _operands(line, one)) for one in fixed]
    executions = _Executions(written)
    for number, (line, operands) in enumerate(written):
        given = {
            at: "lane" for at, type in enumerate(line.types)
            if type == CARRY or operands[at].startswith("%")
        }
        if executions.is_legal(number):
            yield line, ", ".join(operands), executions.run(number, line, given)


def _operands(line: Line, fixed: Container[int]) -> list[str]:
    """The operands as they are to be written, those that are `fixed` as constants."""
    return [
        _constant(value, type) if at in fixed or type == "#" else register("a", at, type)
        for at, (type, value) in enumerate(zip(line.types, line.operands, strict=True)) if type != CARRY
    ]


class _Executions:
    """Instructions with their operands as they are to be written, decoded in one kernel."""

    def __init__(self, written: Sequence[tuple[Line, Sequence[str]]]) -> None:
        declared: dict[str, str] = {}
        body: list[str] = []
        for line, operands in written:
            for role, types in (("a", line.types), ("d", line.result_types)):
                for at, type in enumerate(types):
                    if type not in ("#", CARRY):
                        declared[register(role, at, type)] = register_type(type)
            results = [register("d", at, type) for at, type in enumerate(line.result_types) if type != CARRY]
            body.append(f"{line.spelling} {', '.join(['|'.join(results), *operands])};")
        names = [f".reg {type} {name};" for name, type in declared.items()]
        text = HEADER + "\n".join([".visible .entry k()", "{", *names, *body, "ret;", "}", ""])
        self._function = Module.parse(text).definitions["k"]
        self._instructions = list(self._function.body.instructions)
        memory, frame = Memory(), RegisterLayout()
        image = ModuleMemory(module_of(self._function), self._function, Resident(memory), 0)
        blocks = decode(self._function, frame, image, Spaces(memory, np.zeros(0, np.uint8)))
        self._steps = [step for block in blocks for step in block.steps]
        symbols = {symbol.name: symbol for symbol in self._function.body.registers}
        self._numbers = {name: frame.register(symbols[name]) for name in declared}
        self._carry = frame.carry()
        self._wave = Wave(_LAUNCH, frame, np.arange(_BLOCKS, dtype=np.uint32))
        fill_special_registers(self._wave, frame)

    def is_legal(self, number: int) -> bool:
        """Whether the table admits such operands."""
        node = self._instructions[number]
        match = resolve(node.opcode.text).match(arguments(self._function, node))
        return match is not None and not match.problems

    def run(self, number: int, line: Line, given: Mapping[int, str]) -> set[Results]:
        """What the lanes find where registers hold the operands of a line, in the shapes `given`."""
        registers = self._wave.registers
        registers[self._carry] = np.zeros((1, 1), np.bool_)
        for at, shape in given.items():
            here = self._number("a", at, line.types[at])
            bits = line.operands[at] & mask(line.types[at])
            registers[here] = np.full(_SHAPES[shape], bits, registers[here].dtype)
        action = self._steps[number].action
        assert isinstance(action, Compute), line
        with np.errstate(all="ignore"):
            action.run(self._wave, None)
        found = [registers[self._number("d", at, type)] for at, type in enumerate(line.result_types)]
        lanes = zip(*(self._wave.broadcast(one).reshape(-1).tolist() for one in found), strict=True)
        return {line.raw(row) for row in set(lanes)}

    def _number(self, role: str, at: int, type: str) -> int:
        return self._carry if type == CARRY else self._numbers[register(role, at, type)]


def register(role: str, at: int, type: str) -> str:
    """The name of a register for the operand or result number `at`."""
    return f"%{role}{at}_{register_type(type)[1:]}"


def _combinations(count: int) -> Iterator[tuple[str, ...]]:
    """All operands in one shape; one in another than the rest; two that make a larger one together."""
    for shape in _SHAPES:
        yield (shape,) * count
    if count > 1:
        for at in range(count):
            yield tuple("lane" if at == other else "grid" for other in range(count))
            yield tuple("grid" if at == other else "lane" for other in range(count))
            yield tuple("block" if at == other else "thread" for other in range(count))


def _constant(value: int, type: str) -> str:
    if type == "#":
        return str(value)
    if type in (".f32", ".f64"):
        return f"0f{value & 0xFFFFFFFF:08x}" if type == ".f32" else f"0d{value & (1 << 64) - 1:016x}"
    return hex(value & mask(type))
