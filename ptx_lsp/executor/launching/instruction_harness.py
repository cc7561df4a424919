"""A harness kernel around one instruction: each thread loads operands, executes it once, and stores the
results.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.launching.launch import launch
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.isa.types import TYPES, Kind

HEADER = ".version 9.4\n.target sm_107a\n.address_size 64\n"
CARRY = "CC.CF"
"""A pseudo-type: the condition code before or after the instruction."""
_BLOCK = 256
Buffer = npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class InstructionHarness:
    """A kernel `k` in `text`. Its parameters are `inputs`, then `outputs`, with one element per each of
    `count` threads in blocks of `block`.
    """

    text: str
    count: int
    block: int
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]

    @property
    def grid(self) -> int:
        return -(-self.count // self.block)

    def rows(self) -> list[tuple[int, ...]]:
        """The results of each thread, as bits, after the launch."""
        return list(zip(*(map(int, one) for one in self.outputs), strict=True))

    def run(self, *, seconds: float = 60.0, observers: Sequence[Observer] = ()) -> list[tuple[int, ...]]:
        """Executes the kernel for at most so many seconds of CPU time; see `launch` for the errors."""
        launch(
            self.text, entry="k", grid=self.grid, block=self.block, args=[*self.inputs, *self.outputs],
            seconds=seconds, observers=observers, clock=time.thread_time,
        )
        return self.rows()


def instruction_harness(
    instruction: str, rows: Sequence[Sequence[int]], types: Sequence[str], results: Sequence[str],
    header: str = HEADER,
) -> InstructionHarness:
    """The kernel for an instruction (an opcode with its modifiers) and tuples of operands, as bits.

    `types` are those of the operands, `results` those of the destinations (with two, `d|p`). An operand whose
    type is "#" is written into the instruction, so it must be the same in all rows. `CARRY`, the last of the
    types or of the results, is the condition code, which no operand names: 0 or 1.
    """
    body: list[str] = []
    registers: list[str] = []
    operands: list[str] = []
    inputs: list[Buffer] = []
    for at, type in enumerate(types):
        if type == "#":
            operands.append(str(rows[0][at]))
            continue
        registers.append(f".reg {register_type(type)} %a{at};")
        if type != CARRY:
            operands.append(f"%a{at}")
        width = _width(type)
        body += _moved(f"%a{at}", type, width, f"p{len(inputs)}", store=False)
        mask = (1 << width) - 1
        inputs.append(np.array([row[at] & mask for row in rows], f"u{width // 8}"))
    destinations: list[str] = []
    outputs: list[Buffer] = []
    stores: list[str] = []
    for at, type in enumerate(results):
        registers.append(f".reg {register_type(type)} %d{at};")
        if type != CARRY:
            destinations.append(f"%d{at}")
        width = _width(type)
        outputs.append(np.zeros(len(rows), f"u{width // 8}"))
        stores += _moved(f"%d{at}", type, width, f"p{len(inputs) + at}", store=True)
    parameters = ", ".join(f".param .u64 p{at}" for at in range(len(inputs) + len(outputs)))
    text = header + "\n".join([
        f".visible .entry k({parameters})", "{", ".reg .pred %q;", ".reg .u32 %i, %t, %n, %w;",
        ".reg .u64 %at, %step;", *registers,
        "mov.u32 %i, %ctaid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %t, %tid.x;",
        "mad.lo.u32 %i, %i, %n, %t;", f"setp.ge.u32 %q, %i, {len(rows)};", "@%q bra done;", *body,
        *(f"add.cc.u32 %w, %a{at}, 0xffffffff;" for at, type in enumerate(types) if type == CARRY),
        f"{instruction} {', '.join(['|'.join(destinations), *operands])};",
        *(f"addc.u32 %d{at}, 0, 0;" for at, type in enumerate(results) if type == CARRY), *stores,
        "done:", "ret;", "}", "",
    ])
    return InstructionHarness(text, len(rows), min(_BLOCK, max(1, len(rows))), tuple(inputs), tuple(outputs))


def _moved(register: str, type: str, width: int, parameter: str, *, store: bool) -> list[str]:
    """Loads or stores the register's element of a buffer."""
    lines = [
        f"ld.param.u64 %at, [{parameter}];", f"mul.wide.u32 %step, %i, {width // 8};",
        "add.u64 %at, %at, %step;",
    ]
    if type == ".pred":
        if store:
            return [*lines, f"selp.u32 %w, 1, 0, {register};", "st.global.b8 [%at], %w;"]
        return [*lines, "ld.global.u8 %w, [%at];", f"setp.ne.u32 {register}, %w, 0;"]
    operation = f"st.global.b{width} [%at], {register};"
    return [*lines, operation if store else f"ld.global.b{width} {register}, [%at];"]


def register_type(type: str) -> str:
    """The type of a register for values of a type: integers of 8 bits go in 16 bits."""
    if type in (".pred", CARRY):
        return ".pred" if type == ".pred" else ".b32"
    return ".b16" if type in (".u8", ".s8") else f".b{TYPES[type].width}"


def _width(type: str) -> int:
    if type == CARRY:
        return 32
    return 8 if TYPES[type].kind is Kind.PREDICATE else TYPES[type].width
