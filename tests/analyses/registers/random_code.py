"""Random machine code with a few registers."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ptx_lsp.analyses._flow import Operands
from ptx_lsp.named_tuple import NamedTuple

Words = tuple[int, ...]


class Operation(NamedTuple):
    uses: frozenset[int]
    defs: frozenset[int]
    kept: frozenset[int]
    flags_read: frozenset[int]
    flags_written: frozenset[int]


class Code:
    """The machine code of a function with a few registers: of one word, of two, shared, or without words."""

    def __init__(self, choice: Random, count: int) -> None:
        self.allocated: list[Words] = [
            (), (), (0,), (1,), (2,), (3,), (4, 5), (6, 7), (8, 9), (10,), (11,), (-1, 12),
        ]  # fmt: skip
        self.values = list(self.allocated)
        self.values[4] = self.values[2]
        self.values[8] = (self.values[6][1], -1)
        self.values[9] = ()
        registers = range(len(self.allocated))
        self.uses = [tuple(choice.choices(registers, k=choice.randrange(4))) for _ in range(count)]
        self.defs = [tuple(choice.choices(registers, k=choice.randrange(3))) for _ in range(count)]
        self.partial = [
            tuple(one for one in defs if choice.random() < 0.2) if choice.random() < 0.3 else ()
            for defs in self.defs
        ]
        self.guards = [choice.choice((-1, -1, 0, 1)) for _ in range(count)]
        self.is_eliminated = bytearray(choice.random() < 0.1 for _ in range(count))
        self.live_out = sorted(choice.sample(range(14), choice.randrange(6)))

    def defined(self, registers: Sequence[int]) -> frozenset[int]:
        own = [one for one in registers if self.values[one] is self.allocated[one]]
        return frozenset(word for one in own for word in self.values[one]) - {-1}

    def operations(self) -> list[Operation]:
        def flags(registers: Sequence[int]) -> set[int]:
            return {-2 - one for one in registers if not self.allocated[one]}

        return [
            Operation(
                frozenset(word for one in uses for word in self.values[one]) - {-1},
                self.defined(defs),
                self.defined(partial),
                frozenset(flags(uses) | ({-2 - guard} if guard >= 0 else set())),
                frozenset(flags(defs)),
            )
            for uses, defs, partial, guard, gone in zip(
                self.uses, self.defs, self.partial, self.guards, self.is_eliminated, strict=True
            )
            if not gone
        ]

    def operands(self) -> Operands:
        return Operands(
            self.uses, self.defs, self.partial, self.guards, self.values, self.allocated,
            self.is_eliminated, {}, 0, len(self.uses), self.live_out,
        )  # fmt: skip
