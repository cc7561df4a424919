"""A kernel made ready to run: its instructions as steps, in blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ptx_lsp.executor.access import load, store
from ptx_lsp.executor.atomic import atomic
from ptx_lsp.executor.compute import compute
from ptx_lsp.executor.control import Action, Barrier, Block, Jump, Leave, Step
from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.flow import ranks
from ptx_lsp.executor.frame import Frame
from ptx_lsp.executor.literals import constant
from ptx_lsp.executor.operands import Operands
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


def decode(
    function: Function, frame: Frame, addresses: Mapping[int, int], spaces: Spaces
) -> tuple[Block, ...]:
    """The blocks of a kernel. Registers get numbers in `frame`; `addresses` are those of variables."""
    return _Decoder(function, frame, addresses, spaces).blocks()


class _Decoder:
    def __init__(
        self, function: Function, frame: Frame, addresses: Mapping[int, int], spaces: Spaces
    ) -> None:
        self.function = function
        self.operands = Operands(function, frame, addresses)
        self.spaces = spaces
        self.labels = self._labels()

    def blocks(self) -> tuple[Block, ...]:
        nodes_in_order = [instruction for instruction, _ in self.function.body.instructions]
        starts = {0, *self.labels.values()}
        starts.update(n + 1 for n, node in enumerate(nodes_in_order) if _ends_block(node))
        starts.update(n for n, node in enumerate(nodes_in_order) if _waits(node))
        ordered = sorted(start for start in starts if start < len(nodes_in_order))
        number_of = {start: number for number, start in enumerate(ordered)}
        number_of.setdefault(len(nodes_in_order), len(ordered))
        blocks: list[tuple[Step, ...]] = []
        successors: list[list[int]] = []
        for start, end in zip(ordered, [*ordered[1:], len(nodes_in_order)], strict=True):
            steps = tuple(self._step(node, number_of) for node in nodes_in_order[start:end])
            blocks.append(steps)
            successors.append(_successors(steps, len(blocks)))
        blocks.append((Step(0, "ret", Leave("ret")),))  # the end of the text
        successors.append([])
        order = ranks(successors, 0)
        return tuple(Block(steps, rank) for steps, rank in zip(blocks, order, strict=True))

    def _labels(self) -> dict[int, int]:
        """By the place of a label, the number of the instruction behind it."""
        found: dict[int, int] = {}
        position = 0
        for statement in self.function.body.statements:
            if isinstance(statement, nodes.Instruction):
                position += 1
            elif isinstance(statement, nodes.Label):
                symbol = self.function.body.symbols.get(statement.name.start)
                if isinstance(symbol, Label):
                    found[symbol.place.start] = position
        return found

    def _step(self, node: nodes.Instruction, number_of: Mapping[int, int]) -> Step:
        source = self.function.module.document.source
        span = self.function.module.span(self.function.place(node))
        text = " ".join(source.data[span.start : span.end].decode(errors="replace").split())
        line = source.data.count(b"\n", 0, span.start) + 1
        try:
            action = self._action(node, number_of)
            guard, negated = self._guard(node)
        except ExecutionError as error:
            return Step(line, text, Unsupported(str(error)))
        return Step(line, text, action, guard, negated)

    def _guard(self, node: nodes.Instruction) -> tuple[int, bool]:
        if node.guard is None:
            return -1, False
        number = self.operands.number(node.guard.predicate)
        return (-1 if number is None else number), node.guard.negated

    def _action(
        self, node: nodes.Instruction, number_of: Mapping[int, int]
    ) -> Action | Jump | Leave | Barrier:
        spelling = node.opcode.text
        opcode = spelling.partition(".")[0]
        if opcode == "bra":
            return Jump(number_of[self._target(node.operands[0])])
        if opcode in ("ret", "exit"):
            return Leave("ret" if opcode == "ret" else "exit")
        if opcode == "trap":
            return Leave("trap")
        if opcode in _NOTHING or spelling.startswith("bar.warp"):
            return Nothing()
        match = resolve(spelling).match(arguments(self.function, node))
        if match is None or match.problems:
            why = match.problems[0].message if match else "it is not in the instruction table"
            raise ExecutionError(f"`{spelling}` cannot be executed: {why}", "unsupported")
        if opcode in ("bar", "barrier"):
            return _barrier(node, match)
        if opcode in ("ld", "ldu"):
            return load(node, match, self.operands, self.spaces)
        if opcode == "st":
            return store(node, match, self.operands, self.spaces)
        if opcode in ("atom", "red"):
            return atomic(node, match, self.operands, self.spaces)
        if opcode in OPCODES:
            return warp(node, match, self.operands)
        return compute(node, match, self.operands)

    def _target(self, operand: nodes.Expression) -> int:
        symbol = self.function.resolve(operand) if isinstance(operand, nodes.Name) else None
        if not isinstance(symbol, Label) or symbol.place.start not in self.labels:
            raise ExecutionError("the target of the jump is not known", "unsupported")
        return self.labels[symbol.place.start]


def _ends_block(node: nodes.Instruction) -> bool:
    return node.opcode.text.partition(".")[0] in ("bra", "ret", "exit", "trap", "bar", "barrier")


def _waits(node: nodes.Instruction) -> bool:
    """Whether it may wait for other lanes of the warp, which then come to its block."""
    opcode, *modifiers = node.opcode.text.split(".")
    return opcode in OPCODES and "sync" in modifiers


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
