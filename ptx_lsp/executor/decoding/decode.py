"""Decodes a kernel for execution: its instructions as steps, in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptx_lsp.executor.arithmetic import integers as lanes
from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.asynchronous.mbarrier_steps import Wait
from ptx_lsp.executor.decoding.builders import builder
from ptx_lsp.executor.decoding.call_stack import Allocate, Enter, stack
from ptx_lsp.executor.decoding.flatten import Context, FlatInstruction, flatten
from ptx_lsp.executor.decoding.flow import ranks, trapped
from ptx_lsp.executor.instructions.access import Load, Store, load, sources, store, type_of
from ptx_lsp.executor.instructions.atomic import Atomic, atomic
from ptx_lsp.executor.instructions.compute import Compute, compute, move
from ptx_lsp.executor.instructions.warp import OPCODES, warp
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import (
    Action,
    Barrier,
    BarrierKind,
    Block,
    ClusterBarrier,
    Control,
    Jump,
    Leave,
    Nothing,
    Step,
    TableJump,
    Timed,
    Unsupported,
    successors,
)
from ptx_lsp.executor.machine.data_segment import ModuleMemory
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.executor.machine.special_registers import is_clock
from ptx_lsp.executor.scheduling.convergence_groups import Budget
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.types import TYPES, Type
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.symbols import Label, TargetTable
from ptx_lsp.syntax import nodes

_NOTHING = frozenset({
    "membar", "fence", "prefetch", "prefetchu", "discard", "applypriority", "pmevent", "nanosleep",
    "griddepcontrol", "setmaxnreg",
})
"""Instructions that do nothing that can be seen here."""
_STACK_ALIGNMENT = 8  # of `alloca` where it tells none, in bytes


def decode(
    function: Function,
    frame: RegisterLayout,
    image: ModuleMemory,
    spaces: Spaces,
    budget: Budget | None = None,
    *,
    is_fine: bool = False,
) -> tuple[Block, ...]:
    """The blocks of a kernel. Registers get numbers in `frame`, variables of calls addresses in `image`. With
    `is_fine`, each instruction that other threads may notice begins a block, so that they may come before it.

    Raises ExecutionError if it exceeds the time budget.
    """
    return _Decoder(function, frame, image, spaces, budget, is_fine=is_fine).blocks()


class _Decoder:
    def __init__(
        self,
        function: Function,
        frame: RegisterLayout,
        image: ModuleMemory,
        spaces: Spaces,
        budget: Budget | None,
        *,
        is_fine: bool,
    ) -> None:
        self.spaces = spaces
        self.is_fine = is_fine
        self.budget = budget
        self.stack = stack(frame)
        self.listing = flatten(function, frame, image)

    def blocks(self) -> tuple[Block, ...]:
        lines = self.listing.lines
        starts = {0, *(line.jump_to for line in lines if line.jump_to >= 0)}
        for context in {id(line.context): line.context for line in lines}.values():
            starts.update((context.end, *context.labels.values()))
        starts.update(routine.start for routine in self.listing.routines.values())
        starts.update(n + 1 for n, line in enumerate(lines) if _ends_block(line))
        starts.update(n for n, line in enumerate(lines) if _waits(line))
        if self.is_fine:
            starts.update(n for n, line in enumerate(lines) if _is_visible(line))
        ordered = sorted(start for start in starts if start < len(lines))
        number_of = {start: number for number, start in enumerate(ordered)}
        for routine in self.listing.routines.values():
            routine.entry = number_of[routine.start]
        blocks: list[tuple[Step, ...]] = []
        for start, end in zip(ordered, [*ordered[1:], len(lines)], strict=True):
            onward = len(blocks) + 1
            blocks.append(tuple(self._step(line, onward, number_of) for line in lines[start:end]))
        edges = [successors(steps, number + 1) for number, steps in enumerate(blocks)]
        pure = [_is_pure(steps) for steps in blocks]
        endless = trapped(edges, pure)
        return tuple(
            Block(
                steps, rank, _is_lanewise(steps), _polls(steps), _writes(steps), pure[number],
                number in endless,
            )
            for number, (steps, rank) in enumerate(zip(blocks, _order(blocks, edges), strict=True))
        )

    def _step(self, line: FlatInstruction, onward: int, number_of: Mapping[int, int]) -> Step:
        node, function = line.node, line.context.function
        source = function.module.document.source
        span = function.module.span(function.place(node))
        text = " ".join(source.data[span.start : span.end].decode(errors="replace").split())
        number = source.line_of(span.start) + 1
        if self.budget is not None:
            self.budget.check_time(number)
        try:
            action = self._action(line, onward, number_of)
            guard, negated = _guard(line)
        except ExecutionError as error:
            return Step(number, text, Unsupported(str(error)), source=line.provenance)
        return Step(number, text, action, guard, negated is not line.skips, line.provenance)

    def _action(self, line: FlatInstruction, onward: int, number_of: Mapping[int, int]) -> Action | Control:
        if line.action is not None:
            return line.action
        if line.make is not None:
            return line.make(self.spaces)
        if line.jump_to >= 0:
            return Jump(number_of[line.jump_to])
        if line.routines is not None:
            return Enter(line.routines, line.pointer, onward, self.stack)
        node, context = line.node, line.context
        spelling = node.opcode.text
        opcode = spelling.partition(".")[0]
        if opcode == "bra":
            return Jump(number_of[_target(node.operands[0], context)])
        if opcode == "ret" and context.is_called:
            return Jump(number_of[context.end])
        if opcode in ("ret", "exit"):
            return Leave("ret" if opcode == "ret" else "exit")
        if opcode == "trap" or opcode == "brkpt":
            return Leave(opcode)
        if opcode == "brx":
            targets = _targets(node.operands[-1], context)
            index = sources([(node.operands[0], TYPES[".u32"])], context.operands)
            return TableJump(index, tuple(number_of[target] for target in targets))
        if opcode in _NOTHING or spelling.startswith("cp.async.bulk.prefetch"):
            return Nothing()
        action = self._matched(node, context)
        clocks = {
            number: name for name, number in context.operands.frame.specials.items()
            if is_clock(name) and any(_reads(operand, name) for operand in node.operands)
        }
        return Timed(action, clocks) if clocks and not isinstance(action, Control) else action

    def _matched(self, node: nodes.Instruction, context: Context) -> Action | Control:
        spelling, operands = node.opcode.text, context.operands
        match = resolve(spelling).match(arguments(context.function, node))
        if match is None or match.problems:
            why = match.problems[0].message if match else "it is not in the instruction table"
            raise ExecutionError(f"`{spelling}` is not supported: {why}", "unsupported")
        build = builder(match)
        if build is not None:
            return build(node, match, operands, self.spaces)
        opcode = match.entry.opcode
        if opcode in ("bar", "barrier") and match.entry.name != "bar.warp.sync":
            return _barrier(node, match, operands)
        if opcode in ("alloca", "stacksave", "stackrestore"):
            return self._on_stack(opcode, node, match, operands)
        if opcode in ("ld", "ldu"):
            return load(node, match, operands, self.spaces)
        if opcode == "st":
            return store(node, match, operands, self.spaces)
        if opcode in ("atom", "red"):
            return atomic(node, match, operands, self.spaces)
        if opcode in OPCODES or opcode == "bar":
            return warp(node, match, operands)
        return compute(node, match, operands)

    def _on_stack(
        self, opcode: str, node: nodes.Instruction, match: Match, operands: Operands
    ) -> Action:
        type = type_of(match)
        if opcode == "stackrestore":
            return move(self.stack, operands.source(node.operands[0], type), operands)
        destination = operands.number(node.operands[0])
        if destination is None:
            return Nothing()
        if opcode == "stacksave":
            return move(destination, lanes.register(self.stack, 64, signed=False), operands)
        _, size, *rest = node.operands
        alignment = constant(rest[0]) if rest else _STACK_ALIGNMENT
        return Allocate(
            sources([(size, type)], operands), int(alignment or 1), destination, self.stack
        )


def _guard(line: FlatInstruction) -> tuple[int, bool]:
    guard = line.node.guard
    if guard is None or not (line.is_plain or line.jump_to >= 0):
        return -1, line.skips
    number = line.context.operands.number(guard.predicate)
    return (-1 if number is None else number), guard.negated


def _target(operand: nodes.Expression, context: Context) -> int:
    symbol = context.function.resolve(operand) if isinstance(operand, nodes.Name) else None
    if not isinstance(symbol, Label) or symbol.place.start not in context.labels:
        raise ExecutionError("the target of the branch is unknown", "unsupported")
    return context.labels[symbol.place.start]


def _targets(operand: nodes.Expression, context: Context) -> list[int]:
    """Those of a `.branchtargets` list."""
    symbol = context.function.resolve(operand) if isinstance(operand, nodes.Name) else None
    if not isinstance(symbol, TargetTable):
        raise ExecutionError("the list of targets is unknown", "unsupported")
    return [_target(name, context) for name in symbol.node.names]


def _reads(operand: nodes.Expression, name: str) -> bool:
    return isinstance(operand, nodes.Name) and operand.text == name


_ENDS = ("bra", "brx", "ret", "exit", "trap", "brkpt", "bar", "barrier")


def _ends_block(line: FlatInstruction) -> bool:
    if line.jump_to >= 0 or line.routines is not None or isinstance(line.action, Control):
        return True
    return line.is_plain and line.node.opcode.text.partition(".")[0] in _ENDS


def _is_lanewise(steps: tuple[Step, ...]) -> bool:
    return all(_goes_alone(step.action) for step in steps) and not _polls(steps)


def _is_pure(steps: tuple[Step, ...]) -> bool:
    return all(isinstance(one, Compute | Nothing | Jump) for one in _actions(steps))


def _writes(steps: tuple[Step, ...]) -> bool:
    return not all(isinstance(one, Compute | Nothing | Control | Load | Wait) for one in _actions(steps))


def _actions(steps: tuple[Step, ...]) -> Iterator[Action | Control]:
    """Those of the steps, without the reading of clocks."""
    for step in steps:
        yield step.action.action if isinstance(step.action, Timed) else step.action


def _polls(steps: tuple[Step, ...]) -> bool:
    for step in steps:
        source = step.source
        if source is not None and source.is_plain:
            opcode, *modifiers = source.node.opcode.text.split(".")
            if opcode in ("ld", "atom") and not _POLLS.isdisjoint(modifiers):
                return True
    return False


_POLLS = frozenset({"cas", "exch", "volatile", "acquire", "relaxed", "mmio"})


def _goes_alone(action: Action | Control) -> bool:
    if isinstance(action, Leave):
        return action.kind in ("ret", "exit")
    if isinstance(action, Timed):
        return _goes_alone(action.action)
    return isinstance(action, Compute | Load | Store | Atomic | Nothing | Jump | TableJump)


def _waits(line: FlatInstruction) -> bool:
    """Whether it may wait for other threads: of the warp, which come to its block, or at an mbarrier."""
    opcode, *modifiers = line.node.opcode.text.split(".")
    if "try_wait" in modifiers:
        return True
    meets = opcode in (*OPCODES, "bar", "tcgen05") or "matrix" in opcode or "mma" in opcode
    return "sync" in modifiers and meets


_VISIBLE = frozenset({
    "ld", "ldu", "st", "atom", "red", "cp", "mbarrier", "multimem", "ldmatrix", "stmatrix", "tensormap",
    "suld", "sust", "sured",
})


def _is_visible(line: FlatInstruction) -> bool:
    """Whether it uses memory that other threads use."""
    opcode, *modifiers = line.node.opcode.text.split(".")
    return line.is_plain and opcode in _VISIBLE and not {"param", "const", "local"} & {*modifiers}


def _order(blocks: list[tuple[Step, ...]], edges: list[list[int]]) -> list[int]:
    """The ranks of the blocks: a routine stands before whatever calls it, unless it is called by it."""
    found = [len(blocks)] * len(blocks)
    behind, seen = 0, {0}
    pending: list[tuple[int, bool]] = [(0, False)]
    while pending:
        root, is_ready = pending.pop()
        inside = ranks(edges, root)
        own = [block for block, rank in enumerate(inside) if rank < len(blocks)]
        if is_ready:
            for block in own:
                found[block] = behind + inside[block]
            behind += len(own)
            continue
        pending.append((root, True))
        for block in own:
            for step in blocks[block]:
                if isinstance(step.action, Enter):
                    entries = {routine.entry for routine in step.action.routines.values()} - seen
                    seen |= entries
                    pending.extend((entry, False) for entry in entries)
    return found


def _barrier(
    node: nodes.Instruction, match: Match, operands: Operands
) -> Barrier | ClusterBarrier:
    name, modifiers = match.entry.name, match.candidate.choices.modifiers
    if name == "barrier.cluster":
        return ClusterBarrier(".arrive" if ".arrive" in modifiers else ".wait")
    read: list[tuple[nodes.Expression, Type]] = []
    destination: int | None = None
    counted = False
    for operand, (place, _) in zip(node.operands, match.places, strict=True):
        if place.name in ("d", "p"):
            destination = operands.number(operand)
        else:
            counted |= place.name == "b"
            read.append((operand, TYPES[".pred" if place.name == "c" else ".u32"]))
    number = constant(read[0][0])
    kind: BarrierKind = next(k for k in _BARRIERS if k in (*modifiers, f".{name.rpartition('.')[2]}"))
    return Barrier(
        kind, number if isinstance(number, int) else -1, sources(read, operands), counted, destination
    )


_BARRIERS: tuple[BarrierKind, ...] = (".popc", ".and", ".or", ".sync", ".arrive")
