"""The register that counts the iterations of a loop, and how many there are.

1. The loop has one conditional branch, whose predicate a `setp` in the loop defines. The counter is the first
   register that it compares, and an `add` in the loop defines it.
2. The trip count is known if the counter starts from a constant, changes by a constant, and is compared with
   one.
3. Otherwise the loop may still be *counted*: it compares a register that changes by a constant with one that
   it does not define.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import Loop
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.registers.machine_instructions import assigned_constant
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes


def trip_count(function: Function, loop: Loop) -> int | None:
    """How often the body of `loop` is executed, within one; None if unknown."""
    graph = cfg(function)
    numbers = {number for block in loop.blocks for number in graph.blocks[block].instructions}
    return InductionVariable(function, numbers).trip_count() if numbers else None


class InductionVariable:
    """Tracks the register that counts the iterations of a loop, whose instructions are `inside`."""

    def __init__(self, function: Function, inside: Collection[int]) -> None:
        self.function = function
        self.flow = instructions(function)
        self.inside = inside
        self.first, self.last = min(inside, default=0), max(inside, default=0)
        self.left = virtual_registers(function)

    def trip_count(self) -> int | None:
        kinds, guards = self.flow.kinds, self.flow.guards
        branches = [one for one in self.inside if guards[one] >= 0 and kinds[one].opcode == "bra"]
        if len(branches) != 1:
            return None
        tested = self.tested(self.defining(guards[branches[0]]))
        if tested is None:
            return None
        counter, end = self.register(tested[0]), self.value(tested[1])
        if counter is None or end is None:
            return None
        adds = [self.operands(one) for one in self.defining(counter) if kinds[one].opcode == "add"]
        if len(adds) != 1 or len(adds[0]) != 3:
            return None
        step = self.value(adds[0][2])
        start = self.start(self.register(adds[0][1]))
        if not step or start is None:
            return None
        count = (end - start) // step
        return count if count > 0 else None

    def is_counted(self) -> bool:
        """Whether the loop compares a register that changes by a constant with one that does not."""
        kinds, guards = self.flow.kinds, self.flow.guards
        tested = self.tested([
            test
            for one in self.inside
            if kinds[one].opcode == "bra"
            for test in self.defining(guards[one])
        ])
        if tested is None:
            return False
        one, other = map(self.register, tested)
        if one is None or not self.defining(one):
            one, other = other, one
        if one is None or (other is not None and self.defining(other)):
            return False
        changes = self.defining(one)
        return (
            len(changes) == 1
            and kinds[changes[0]].opcode in ("add", "sub")
            and literal(self.operands(changes[0])[-1]) is not None
        )

    def tested(self, tests: Sequence[int]) -> tuple[nodes.Operand, nodes.Operand] | None:
        """The operands that one instruction compares, if it is the only one given and a `setp`."""
        if len(tests) != 1 or self.flow.kinds[tests[0]].opcode != "setp":
            return None
        operands = self.operands(tests[0])
        return (operands[1], operands[2]) if len(operands) > 2 else None

    def defining(self, register: int) -> list[int]:
        """The instructions of the loop that define a register, each once."""
        if register < 0:
            return []
        numbers = self.left.definitions.of(register)
        near = numbers[bisect_left(numbers, self.first) : bisect_right(numbers, self.last)]
        return [one for one in dict.fromkeys(near) if one in self.inside]

    def operands(self, number: int) -> Sequence[nodes.Operand]:
        return self.flow.body.instructions[number].operands

    def start(self, register: int | None) -> int | None:
        """The only constant that `register` is assigned outside the loop."""
        if register is None:
            return None
        found = [number for number in self.left.definitions.of(register) if number not in self.inside]
        if len(found) != 1 or self.flow.kinds[found[0]].opcode != "mov":
            return None
        return self.value(self.flow.body.instructions[found[0]].operands[-1])

    def value(self, operand: nodes.Operand) -> int | None:
        register = self.register(operand)
        return literal(operand) if register is None else assigned_constant(self.left, register)

    def register(self, operand: nodes.Operand) -> int | None:
        if not isinstance(operand, nodes.Name):
            return None
        symbol = self.function.resolve(operand)
        return self.flow.index_of(symbol) if isinstance(symbol, Register) else None
