"""Runs one instruction for many operands, each in a thread of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor import launch
from ptx_lsp.isa.types import TYPES, Kind

HEADER = ".version 9.4\n.target sm_107a\n.address_size 64\n"
_BLOCK = 256


def run(
    instruction: str, inputs: Sequence[Sequence[int]], types: Sequence[str], results: Sequence[str]
) -> list[list[int]]:
    """What `instruction` gives, an opcode with its modifiers, for each tuple of operands; all as bits.

    `types` are those of the operands, `results` those of the destinations (with two, `d|p`). An operand
    whose type is "#" is written into the instruction, so it must be the same in all tuples.
    """
    count = len(inputs)
    body: list[str] = []
    registers: list[str] = []
    operands: list[str] = []
    arguments: list[npt.NDArray[np.generic]] = []
    for at, type in enumerate(types):
        if type == "#":
            operands.append(str(inputs[0][at]))
            continue
        registers.append(f".reg {_holder(type)} %a{at};")
        operands.append(f"%a{at}")
        width = _width(type)
        arguments.append(np.array([row[at] for row in inputs], f"u{width // 8}"))
        body += _moved(f"%a{at}", type, width, f"p{len(arguments) - 1}", store=False)
    destinations: list[str] = []
    outputs: list[npt.NDArray[np.generic]] = []
    stores: list[str] = []
    for at, type in enumerate(results):
        registers.append(f".reg {_holder(type)} %d{at};")
        destinations.append(f"%d{at}")
        width = _width(type)
        outputs.append(np.zeros(count, f"u{width // 8}"))
        stores += _moved(f"%d{at}", type, width, f"p{len(arguments) + at}", store=True)
    arguments += outputs
    parameters = ", ".join(f".param .u64 p{at}" for at in range(len(arguments)))
    text = HEADER + "\n".join([
        f".entry k({parameters})", "{", ".reg .pred %q;", ".reg .b8 %y;", ".reg .u32 %i, %t, %n, %w;",
        ".reg .u64 %at, %step;", *registers,
        "mov.u32 %i, %ctaid.x;", "mov.u32 %n, %ntid.x;", "mov.u32 %t, %tid.x;",
        "mad.lo.u32 %i, %i, %n, %t;", f"setp.ge.u32 %q, %i, {count};", "@%q bra done;", *body,
        f"{instruction} {', '.join(['|'.join(destinations), *operands])};", *stores,
        "done:", "ret;", "}", "",
    ])
    launch(text, entry="k", grid=-(-count // _BLOCK), block=_BLOCK, args=arguments)
    return [list(row) for row in zip(*(output.tolist() for output in outputs), strict=True)]


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


def _holder(type: str) -> str:
    """The type of a register for values of that type: integers of 8 bits go in 16 bits."""
    if type == ".pred":
        return ".pred"
    return ".b16" if type in (".u8", ".s8") else f".b{TYPES[type].width}"


def _width(type: str) -> int:
    return 8 if TYPES[type].kind is Kind.PREDICATE else TYPES[type].width
