"""Definite assignment: registers that are read before they are written, on some path or on all paths.

1. A register is assigned after an instruction that writes all or part of it. Parameters are assigned from the
   start.
2. A write under a guard counts for instructions with the same guard. Together with a write under the opposite
   guard, it counts for all instructions. Both end when the guard's predicate is written again.
3. On the taken edge of a guarded branch the guard is true; on the fall-through edge it is false. A register
   assigned on one of two paths that meet is therefore assigned for instructions under the guard of that path.
4. `wgmma` may ignore the value of its accumulator, `xor` and `sub` of a register with itself ignore that
   register, and `prmt` ignores a source of which its constant selects no byte. These are not reads.
"""

from __future__ import annotations

from ptx_lsp.analyses.control_flow.cfg import EXITS, JUMPS, BasicBlock, cfg
from ptx_lsp.analyses.dataflow.ambiguous_registers import ambiguous_registers
from ptx_lsp.analyses.dataflow.block_summary import block_summaries
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.facts import fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple

_LEADING_AWAY = JUMPS | EXITS | {"call"}
_CANCELLING = frozenset({"xor", "sub"})
_MOST = 3_000_000
"""Guards are tracked up to this product of registers, blocks and predicates."""


class UninitializedRead(NamedTuple):
    """The first read of a register that is not definitely assigned. `on_all_paths`: no path to it writes the
    register.
    """

    instruction: int
    register: int
    on_all_paths: bool


@fact
def uninitialized_reads(function: Function) -> tuple[UninitializedRead, ...]:
    """The first uninitialized read of each register, in the order of the text."""
    suspects = ambiguous_registers(function).live_on_entry
    if suspects:
        flow = instructions(function)
        parameters = [one for one in function.body.parameters if isinstance(one, Register)]
        assigned = {flow.index_of(one) for one in parameters}
        suspects = [one for one in suspects if one not in assigned]
    return tuple(_Search(function, suspects).run()) if suspects else ()


GuardValue = tuple[int, bool]
"""A predicate register and its value."""


class _State:
    """The registers assigned at one point, as bit sets. `maybe`: on some path; `always`: on all paths;
    `when`: on all paths on which the condition holds. A state that points share is not changed.
    """

    __slots__ = ("always", "maybe", "under_guard")

    def __init__(self, maybe: int, always: int, when: dict[GuardValue, int]) -> None:
        self.maybe = maybe
        self.always = always
        self.under_guard = when

    def copy(self) -> _State:
        return _State(self.maybe, self.always, dict(self.under_guard))

    def under(self, condition: GuardValue | None) -> int:
        """The registers assigned where `condition` holds."""
        return self.always if condition is None else self.always | self.under_guard.get(condition, 0)

    def write(self, registers: int, condition: GuardValue | None) -> None:
        self.maybe |= registers
        if condition is None:
            self.always |= registers
            return
        self.always |= registers & self.under_guard.get((condition[0], not condition[1]), 0)
        self.under_guard[condition] = self.under_guard.get(condition, 0) | registers

    def forget(self, predicate: int) -> None:
        """Drops the entries of a predicate that gets a new value."""
        self.under_guard.pop((predicate, True), None)
        self.under_guard.pop((predicate, False), None)

    def assume(self, predicate: int, value: bool, everything: int) -> None:
        self.always |= self.under_guard.get((predicate, value), 0)
        self.under_guard[predicate, not value] = everything

    def meet(self, other: _State) -> _State:
        """The assignments that both states share: this same object if the other state includes it."""
        if other is self:
            return self
        conditions = self.under_guard.keys() | other.under_guard.keys()
        when = {c: self.under(c) & other.under(c) for c in conditions}
        always = self.always & other.always
        when = {c: known for c, known in when.items() if known & ~always}
        found = _State(self.maybe | other.maybe, always, when)
        is_same = (found.maybe, always, when) == (self.maybe, self.always, self.under_guard)
        return self if is_same else found


class _Search:
    def __init__(self, function: Function, suspects: list[int]) -> None:
        self.flow = instructions(function)
        self.graph = cfg(function)
        self.bits = {register: 1 << index for index, register in enumerate(suspects)}
        self.everything = (1 << len(suspects)) - 1
        suspected = frozenset(suspects)
        summaries = block_summaries(function)
        names_suspect = [
            not (suspected.isdisjoint(block.exposed) and suspected.isdisjoint(block.defined))
            for block in summaries
        ]
        guards = self.correlated_guards(names_suspect)
        effort = len(suspects) * len(self.graph.blocks) * max(1, len(guards))
        self.are_guards_tracked = effort <= _MOST
        self.guards = guards if self.are_guards_tracked else set[int]()
        """The predicates whose value is tracked."""
        self.quiet = [
            None if is_named else tuple([one for one in block.defined if one in self.guards])
            for block, is_named in zip(summaries, names_suspect, strict=True)
        ]
        """The guards that each block writes if it names no suspect; None for other blocks."""
        self.known_steps: dict[int, list[int]] = {}

    def steps(self, block: BasicBlock) -> list[int]:
        """The instructions of a block that name a suspect or a tracked guard."""
        known = self.known_steps.get(block.number)
        if known is None:
            named = self.guards.union(self.bits)
            uses, defs, guards = self.flow.uses, self.flow.defs, self.flow.guards
            known = self.known_steps[block.number] = [
                step
                for step in range(block.first, block.end)
                if guards[step] in named or not named.isdisjoint(uses[step] + defs[step])
            ]
        return known

    def correlated_guards(self, names_suspect: list[bool]) -> set[int]:
        """The predicates that guard more than one branch or instruction that may name a suspect. For others,
        nothing is assigned under a guard that is read under the same guard.
        """
        found: set[int] = set()
        once: set[int] = set()
        guards = self.flow.guards
        for block, is_named in zip(self.graph.blocks, names_suspect, strict=True):
            first = block.first if is_named else max(block.first, block.end - 1)
            for guard in guards[first : block.end]:
                if guard >= 0:
                    (found if guard in once else once).add(guard)
        return found

    def run(self) -> list[UninitializedRead]:
        found: dict[int, UninitializedRead] = {}
        for number, state in sorted(self.states().items()):
            if self.quiet[number] is not None:
                continue
            state = state.copy()
            for step in self.steps(self.graph.blocks[number]):
                self.check(step, state, found)
                self.transfer(step, state)
        return sorted(found.values())

    def check(self, step: int, state: _State, found: dict[int, UninitializedRead]) -> None:
        known = state.under(self.condition(step))
        for register in self.registers_read(step):
            bit = self.bits.get(register, 0)
            if bit & ~known and register not in found:
                found[register] = UninitializedRead(step, register, not bit & state.maybe)
        guard = self.flow.guards[step]
        bit = self.bits.get(guard, 0)
        if bit & ~state.always and guard not in found:
            found[guard] = UninitializedRead(step, guard, not bit & state.maybe)

    def states(self) -> dict[int, _State]:
        """The state at the start of each reached block."""
        order = self.graph.reverse_postorder
        position = {block: index for index, block in enumerate(order)}
        found = {0: _State(0, 0, {})}
        is_waiting = bytearray(len(order))  # by the place in reverse postorder
        place = 0
        while place >= 0:
            is_waiting[place] = 0
            number, following = order[place], place + 1
            block = self.graph.blocks[number]
            state, targets = self.state_after(block, found[number]), block.successors
            for target in targets:
                after = self.state_on_edge(block, target, state) if len(targets) > 1 else state
                known = found.get(target)
                if known is not None:
                    after = known.meet(after)
                if after is not known:
                    found[target] = after
                    is_waiting[position[target]] = 1
                    following = min(following, position[target])
            place = is_waiting.find(1, following)
        return found

    def state_after(self, block: BasicBlock, state: _State) -> _State:
        """The state at the end of a block."""
        quiet = self.quiet[block.number]
        if quiet == ():
            return state
        state = state.copy()
        for guard in quiet or ():
            state.forget(guard)
        if quiet is None:
            for step in self.steps(block):
                self.transfer(step, state)
        return state

    def state_on_edge(self, block: BasicBlock, target: int, state: _State) -> _State:
        """The state on the edge from `block`, which has several successors, to `target`."""
        condition = self.condition(block.end - 1)
        if condition is None or condition[0] not in self.guards:
            return state
        if self.flow.kinds[block.end - 1].opcode not in _LEADING_AWAY:
            return state
        after = state.copy()
        jumps = target != block.successors[0]
        after.assume(condition[0], condition[1] == jumps, self.everything)
        return after

    def transfer(self, step: int, state: _State) -> None:
        written = 0
        defs = self.flow.defs[step]
        for register in defs:
            written |= self.bits.get(register, 0)
        if written:
            condition = self.condition(step)
            if condition is None or condition[0] in self.guards:
                state.write(written, condition)
            else:
                state.maybe |= written
        for register in defs:
            if register in self.guards:
                state.forget(register)

    def condition(self, step: int) -> GuardValue | None:
        """The guard of an instruction. If guards are not tracked, a write under a guard counts for all
        instructions.
        """
        guard = self.flow.guards[step]
        if guard < 0 or not self.are_guards_tracked:
            return None
        return guard, self.flow.guard_value(step)

    def registers_read(self, step: int) -> tuple[int, ...]:
        reads = self.flow.uses[step]
        opcode = self.flow.kinds[step].opcode
        if opcode == "wgmma":
            return tuple([one for one in reads if one not in self.flow.defs[step]])
        if opcode in _CANCELLING and len(reads) == 2 and reads[0] == reads[1]:
            return ()
        if opcode == "prmt" and len(reads) == 2:
            return self._selected(step, reads)
        return reads

    def _selected(self, step: int, reads: tuple[int, ...]) -> tuple[int, ...]:
        """The sources of a `prmt` of which a constant selects bytes."""
        operands = self.flow.body.instructions[step].operands
        selector = literal(operands[3]) if len(operands) == 4 else None
        if selector is None or self.flow.kinds[step].shape.spelling != "prmt.b32":
            return reads
        selected = {(selector >> shift & 7) >> 2 for shift in (0, 4, 8, 12)}
        return tuple([reads[source] for source in sorted(selected)])
