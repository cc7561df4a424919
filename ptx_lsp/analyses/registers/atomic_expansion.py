"""The registers of the machine code that implements an atomic operation.

What ptxas 13.5 does for sm_75 to sm_120:

1. If all threads of a warp access the same address, one of them does it for all (*aggregation*): `add` of
   integers, and `and`, `or`, `xor`, `min` and `max` of 32 bits if the result is not read. The number of
   active threads (`VOTE`, `POPC`) multiplies a value that they share, and `FLO` elects one of them. Other
   values are combined by `REDUX` from sm_80 on, else by `SHFL`. If the result is read, it is broadcast by
   `SHFL`, and each thread adds the sum of those before it.
2. A loop with `ATOMS.CAST.SPIN` implements what shared memory does not have: operations on 64 bits other than
   `exch` and `cas`, and `add` of floating-point numbers.

Here, threads are known to access the same address if it is that of a variable or parameter plus a constant.
"""

from __future__ import annotations

from ptx_lsp.analyses.instructions.operands import register_of
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER
from ptx_lsp.analyses.registers.virtual_registers import VirtualRegisters
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_AGGREGATED: Final = frozenset({"add", "and", "or", "xor", "min", "max"})
_LOOP: Final = 2
_WITH_SCAN: Final = 3


def atomic_scratch(left: VirtualRegisters, node: nodes.Instruction, is_read: bool) -> int:
    """The temporary registers of the sequence that implements an `atom` or `red`, depending on whether
    something reads its result.
    """
    parts = node.opcode.text.split(".")
    operands = node.operands if parts[0] == "red" else node.operands[1:]
    if len(operands) != 2:  # `cas`
        return 0
    is_wide = parts[-1][1:] == "64"
    if ".shared" in node.opcode.text and "exch" not in parts:
        if is_wide:
            return _LOOP
        if parts[-1][0] == "f":
            return _LOOP - 1
    if parts[-1] not in ("u32", "s32", "b32", "u64", "s64") or not _is_shared(left, operands[0]):
        return 0
    is_sum = "add" in parts
    if _AGGREGATED.isdisjoint(parts) or (not is_sum and (is_read or is_wide)):
        return 0
    if not is_read:
        return 1
    return 2 if _is_shared(left, operands[1]) else _WITH_SCAN


def _is_shared(left: VirtualRegisters, operand: nodes.Operand) -> bool:
    """Whether an operand, or the base of an address, is a constant, parameter or address of a variable."""
    match operand:
        case nodes.Address(items=(nodes.Binary(left=name), *_)) | nodes.Address(items=(name, *_)):
            operand = name
        case _:
            pass
    register = register_of(left.code.flow, operand)
    if register is None:
        return True
    words = left.code.of_registers[register]
    return all(word == NO_REGISTER or word in left.code.loads for word in words)
