"""Registers of `wgmma.mma_async` that are accessed while the operation may still be in flight.

1. A `wgmma.mma_async` is in flight from its position on. `wgmma.commit_group` closes the group of operations
   in flight. `wgmma.wait_group n` completes all but the n groups closed last. For ptxas, `wait_group 0` also
   completes operations that no group has closed.
2. Its accumulators are in flight with it, as are the registers of matrix A, if any. Another `wgmma.mma_async`
   may accumulate into the same registers.
3. A conflict is an instruction that reads an accumulator in flight, writes a register in flight, or leaves
   the kernel while accumulators are in flight. PTX leaves its result undefined; ptxas inserts a wait (C7517)
   or serialises every `wgmma` of the function (C7510 to C7519).
4. ptxas coalesces a `mov` from register to register, so its destination is in flight as its source is. The
   `mov` reads its source only if an operation accumulates further into it.
5. Where paths meet, a register is in flight if it is in flight on one of them, with the fewest groups closed
   since.
6. A read waits for the operation in flight. After a write, the register has another value.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions"; ptxas 13.5 on generated kernels
(`tests/oracle/wgmma.py`).
"""

from __future__ import annotations

from collections import deque

from ptx_lsp.analyses.control_flow.cfg import BasicBlock, cfg
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import Literal
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

Access = Literal["read", "write", "write of A", "exit"]

_MMA = "wgmma.mma_async"
_COMMIT = "wgmma.commit_group"
_WAIT = "wgmma.wait_group"
_OPEN = 0
"""The age of an operation that no group has closed yet."""


class Conflict(NamedTuple):
    """`step` accesses `register` (an index, see `FunctionInstructions.registers`) while `mma` is in flight
    (3).
    """

    step: InstructionInfo
    access: Access
    register: int
    mma: InstructionInfo


class InFlight(NamedTuple):
    """`age`: the groups closed since the operation began, its own included; `_OPEN` before that. `copied`:
    the source register and the `mov` that copied it, if any (4).
    """

    age: int
    mma: int
    is_accumulator: bool
    copied: tuple[int, int] | None = None


State = dict[int, InFlight]
"""The operations in flight, by register."""


_mmas = instructions_matching(lambda spelling: spelling.startswith(_MMA))


@fact
def wgmma_conflicts(function: Function) -> tuple[Conflict, ...]:
    """The conflicts of a function, in text order; the first per instruction."""
    return tuple(_Pipeline(function).conflicts()) if _mmas(function) else ()


class _Pipeline:
    def __init__(self, function: Function) -> None:
        self.flow = instructions(function).instructions
        self.graph = cfg(function)
        self.is_kernel = function.is_kernel

    def conflicts(self) -> list[Conflict]:
        entries = self.solve()
        found: dict[int, Conflict] = {}
        for number, state in entries.items():
            for conflict in self.through(self.graph.blocks[number], dict(state)):
                found.setdefault(conflict.step.number, conflict)
        return [found[number] for number in sorted(found)]

    def solve(self) -> dict[int, State]:
        """The operations in flight at the start of each reachable block: a forward may-analysis."""
        entries: dict[int, State] = {0: {}}
        waiting = deque([0])
        while waiting:
            block = self.graph.blocks[waiting.popleft()]
            state = dict(entries[block.number])
            for _ in self.through(block, state):
                pass
            for successor in block.successors:
                if successor not in entries:
                    entries[successor] = dict(state)
                elif not _join(entries[successor], state):
                    continue
                waiting.append(successor)
        return entries

    def through(self, block: BasicBlock, state: State) -> list[Conflict]:
        """Applies a block to `state`. Returns the conflicts in it."""
        found: list[Conflict] = []
        for number in block.instructions:
            step = self.flow[number]
            conflict = self.conflict(step, state)
            if conflict is not None:
                found.append(conflict)
            _advance(step, conflict, state)
        return found

    def conflict(self, step: InstructionInfo, state: State) -> Conflict | None:
        if not state or _is_copy(step):
            return None
        if step.opcode in ("ret", "exit"):
            left = next((r for r, one in state.items() if one.is_accumulator), None)
            return self.against(step, "exit", left, state) if self.is_kernel and left is not None else None
        own: tuple[int, ...] = ()
        if step.spelling.startswith(_MMA):
            own = _accumulators(step)
            copied = next((one for one in state.values() if one.copied and one.copied[0] in own), None)
            if copied is not None and copied.copied is not None:
                register, mov = copied.copied
                return Conflict(self.flow[mov], "read", register, self.flow[copied.mma])
        read = next((r for r in step.uses if r not in own and r in state and state[r].is_accumulator), None)
        if read is not None:
            return self.against(step, "read", read, state)
        written = next((r for r in step.defs if r not in own and r in state), None)
        if written is None:
            return None
        access: Access = "write" if state[written].is_accumulator else "write of A"
        return self.against(step, access, written, state)

    def against(self, step: InstructionInfo, access: Access, register: int, state: State) -> Conflict:
        return Conflict(step, access, register, self.flow[state[register].mma])


def _join(entry: State, state: State) -> bool:
    """Takes `state` into `entry` (5); whether that changed it. Of equals the first stays."""
    changed = False
    for register, one in state.items():
        there = entry.get(register)
        if there is None or one.age < there.age:
            entry[register] = one
            changed = True
    return changed


def _advance(step: InstructionInfo, conflict: Conflict | None, state: State) -> None:
    """Sentences 1, 2, 4 and 6."""
    spelling = step.spelling
    if spelling.startswith(_MMA):
        if conflict is not None:
            state.clear()
        accumulators = _accumulators(step)
        for register in accumulators:
            state[register] = InFlight(_OPEN, step.number, True)
        for register in _fragments(step):
            state[register] = InFlight(_OPEN, step.number, False)
    elif spelling.startswith(_COMMIT):
        for register, one in state.items():
            state[register] = one._replace(age=min(one.age + 1, _MOST_GROUPS))
    elif spelling.startswith(_WAIT):
        _wait(step, state)
    elif _is_copy(step):
        source, target = step.uses[0], step.defs[0]
        for register, one in state.items():
            if one.copied and one.copied[0] == target:
                state[register] = one._replace(copied=None)
        moved = state.get(source)
        if moved is None:
            state.pop(target, None)
        else:
            state[target] = moved._replace(copied=(source, step.number))
    elif conflict is not None and conflict.access in ("read", "exit"):
        state.clear()
    elif conflict is not None:
        for register in step.defs:
            state.pop(register, None)


_MOST_GROUPS = 9
"""`wait_group` counts to 7, so an older group is never distinguished."""


def _wait(step: InstructionInfo, state: State) -> None:
    allowed = _count(step)
    if allowed is None:
        return
    for register, one in list(state.items()):
        is_closed = one.age > _OPEN
        if one.age > allowed if is_closed else allowed == 0:
            del state[register]


def _count(step: InstructionInfo) -> int | None:
    """The n of `wait_group n`."""
    operands = step.node.operands
    number = operands[0] if operands else None
    return integer(number.text) if isinstance(number, nodes.Number) else None


def _accumulators(step: InstructionInfo) -> tuple[int, ...]:
    return step.defs


def _fragments(step: InstructionInfo) -> tuple[int, ...]:
    """The registers of matrix A, where it is in registers."""
    operands = step.node.operands
    if len(operands) < 2 or not isinstance(operands[1], nodes.Vector):
        return ()
    own = _accumulators(step)
    return tuple(r for r in step.uses if r not in own)[: len(operands[1].items)]


def _is_copy(step: InstructionInfo) -> bool:
    return (
        step.opcode == "mov"
        and len(step.uses) == len(step.defs) == 1
        and not step.is_guarded
        and isinstance(step.node.operands[-1], nodes.Name)
    )
