"""A kernel made ready to run: its instructions as steps, in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ptx_lsp.executor.access import load, store
from ptx_lsp.executor.atomic import atomic
from ptx_lsp.executor.builders import builder
from ptx_lsp.executor.compute import compute
from ptx_lsp.executor.control import Action, Barrier, Block, Jump, Leave, Step
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.flow import ranks
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.inline import Context, Line, inlined
from ptx_lsp.executor.literals import constant
from ptx_lsp.executor.program import Bools
from ptx_lsp.executor.spaces import Spaces
from ptx_lsp.executor.warp import OPCODES, warp
from ptx_lsp.executor.wave import Wave
from ptx_lsp.isa.resolve import Match, resolve
from ptx_lsp.model.arguments import arguments
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Label
from ptx_lsp.syntax import nodes

_NOTHING = frozenset({
    "membar", "fence", "prefetch", "prefetchu", "discard", "applypriority", "pmevent", "nanosleep",
    "bar.warp", "griddepcontrol",
})
"""Instructions that do nothing that can be seen here."""


class Nothing:
    """An instruction without an effect on registers or memory."""

    def run(self, wave: Wave, mask: Bools | None) -> None:
        pass


@dataclass(frozen=True)
class Unsupported:
    """An instruction that cannot be executed: an error once a thread comes to it."""

    message: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        raise ExecutionError(self.message, "unsupported")


def decode(function: Function, frame: Frame, image: Image, spaces: Spaces) -> tuple[Block, ...]:
    """The blocks of a kernel. Registers get numbers in `frame`, variables of calls addresses in `image`."""
    return _Decoder(function, frame, image, spaces).blocks()


class _Decoder:
    def __init__(self, function: Function, frame: Frame, image: Image, spaces: Spaces) -> None:
        self.spaces = spaces
        self.lines = inlined(function, frame, image)

    def blocks(self) -> tuple[Block, ...]:
        lines = self.lines
        starts = {0, *(position for line in lines for position in line.context.labels.values())}
        starts.update(line.jump_to for line in lines if line.jump_to >= 0)
        starts.update(line.context.end for line in lines)
        starts.update(n + 1 for n, line in enumerate(lines) if _ends_block(line))
        starts.update(n for n, line in enumerate(lines) if _waits(line))
        ordered = sorted(start for start in starts if start < len(lines))
        number_of = {start: number for number, start in enumerate(ordered)}
        number_of.setdefault(len(lines), len(ordered))
        blocks: list[tuple[Step, ...]] = []
        successors: list[list[int]] = []
        for start, end in zip(ordered, [*ordered[1:], len(lines)], strict=True):
            steps = tuple(self._step(line, number_of) for line in lines[start:end])
            blocks.append(steps)
            successors.append(_successors(steps, len(blocks)))
        blocks.append((Step(0, "ret", Leave("ret")),))  # the end of the text
        successors.append([])
        order = ranks(successors, 0)
        return tuple(Block(steps, rank) for steps, rank in zip(blocks, order, strict=True))

    def _step(self, line: Line, number_of: Mapping[int, int]) -> Step:
        node, function = line.node, line.context.function
        source = function.module.document.source
        span = function.module.span(function.place(node))
        text = " ".join(source.data[span.start : span.end].decode(errors="replace").split())
        number = source.data.count(b"\n", 0, span.start) + 1
        try:
            action = self._action(line, number_of)
            guard, negated = _guard(line)
        except ExecutionError as error:
            return Step(number, text, Unsupported(str(error)), source=line)
        return Step(number, text, action, guard, negated is not line.skips, line)

    def _action(
        self, line: Line, number_of: Mapping[int, int]
    ) -> Action | Jump | Leave | Barrier:
        if line.action is not None:
            return line.action
        if line.jump_to >= 0:
            return Jump(number_of[line.jump_to])
        node, context = line.node, line.context
        spelling = node.opcode.text
        opcode = spelling.partition(".")[0]
        if opcode == "bra":
            return Jump(number_of[_target(node.operands[0], context)])
        if opcode == "ret" and context.is_called:
            return Jump(number_of[context.end])
        if opcode in ("ret", "exit"):
            return Leave("ret" if opcode == "ret" else "exit")
        if opcode == "trap":
            return Leave("trap")
        if opcode in _NOTHING or spelling.startswith("bar.warp"):
            return Nothing()
        return self._matched(node, context)

    def _matched(self, node: nodes.Instruction, context: Context) -> Action | Barrier:
        spelling, operands = node.opcode.text, context.operands
        match = resolve(spelling).match(arguments(context.function, node))
        if match is None or match.problems:
            why = match.problems[0].message if match else "it is not in the instruction table"
            raise ExecutionError(f"`{spelling}` cannot be executed: {why}", "unsupported")
        opcode = match.entry.opcode
        if opcode in ("bar", "barrier"):
            return _barrier(node, match)
        if opcode in ("ld", "ldu"):
            return load(node, match, operands, self.spaces)
        if opcode == "st":
            return store(node, match, operands, self.spaces)
        if opcode in ("atom", "red"):
            return atomic(node, match, operands, self.spaces)
        if opcode in OPCODES:
            return warp(node, match, operands)
        build = builder(match)
        if build is not None:
            return build(node, match, operands, self.spaces)
        return compute(node, match, operands)


def _guard(line: Line) -> tuple[int, bool]:
    guard = line.node.guard
    if guard is None or line.action is not None:
        return -1, line.skips
    number = line.context.operands.number(guard.predicate)
    return (-1 if number is None else number), guard.negated


def _target(operand: nodes.Expression, context: Context) -> int:
    symbol = context.function.resolve(operand) if isinstance(operand, nodes.Name) else None
    if not isinstance(symbol, Label) or symbol.place.start not in context.labels:
        raise ExecutionError("the target of the jump is not known", "unsupported")
    return context.labels[symbol.place.start]


def _ends_block(line: Line) -> bool:
    opcode = line.node.opcode.text.partition(".")[0]
    return line.jump_to >= 0 or opcode in ("bra", "ret", "exit", "trap", "bar", "barrier")


def _waits(line: Line) -> bool:
    """Whether it may wait for other threads: of the warp, which come to its block, or at an mbarrier."""
    opcode, *modifiers = line.node.opcode.text.split(".")
    return (opcode in OPCODES and "sync" in modifiers) or "try_wait" in modifiers


def _successors(steps: tuple[Step, ...], following: int) -> list[int]:
    last = steps[-1]
    match last.action:
        case Jump(target=target):
            return [following, target] if last.guard >= 0 else [target]
        case Leave():
            return [following] if last.guard >= 0 else []
        case _:
            return [following]


def _barrier(node: nodes.Instruction, match: Match) -> Barrier:
    number = constant(node.operands[0])
    name = match.entry.name
    if not name.endswith(".sync") or len(node.operands) > 1 or not isinstance(number, int):
        raise ExecutionError(f"`{node.opcode.text}` in this form cannot be executed yet", "unsupported")
    return Barrier(number)
