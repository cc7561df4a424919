"""The search for uniform values in C, compared with the definition on random code."""

from __future__ import annotations

from random import Random

import pytest

from ptx_lsp.analyses._flow import Readers, definitions, uniform_values
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from tests.strength import seeds

Numbers = tuple[int, ...]
_REGISTERS = 24


class _Program:
    """Instructions that read and define registers of up to three words. Some are eliminated: copies, whose
    results have the words of what they copy, and loads of parameters.
    """

    def __init__(self, choice: Random, count: int) -> None:
        self.allocated: list[Numbers] = []
        for register in range(_REGISTERS):
            size = choice.choice((0, 1, 1, 1, 2, 3))
            self.allocated.append(tuple(range(3 * register, 3 * register + size)))
        self.values = list(self.allocated)
        self.uses: list[Numbers] = []
        self.defs: list[Numbers] = []
        self.guards = [choice.choice((-1,) * 9 + (0,)) for _ in range(count)]
        self.is_gone = bytearray(count)
        operation, other = (InstructionKind.__new__(InstructionKind) for _ in range(2))
        self.kinds = [choice.choice((operation,) * 9 + (other,)) for _ in range(count)]
        self.operations = {operation}
        for _ in range(count):
            self.uses.append(tuple(choice.choices(range(_REGISTERS), k=choice.choice((0, 0, 1, 1, 2)))))
            defined = choice.choice((1, 1, 1, 1, 1, 1, 1, 0, 2))
            self.defs.append(tuple(choice.sample(range(_REGISTERS), defined)))
        self.partial = [defs if choice.random() < 0.1 else () for defs in self.defs]
        self.only, self.several = definitions(self.defs, self.partial, _REGISTERS)
        self.loads: dict[int, int] = {}
        for register in range(2, _REGISTERS, 3):
            number = self.only[register]
            if number < 0 or len(self.defs[number]) > 1:
                continue
            self.is_gone[number] = True
            if choice.random() < 0.3:
                self.uses[number] = ()
                self.loads.update(dict.fromkeys(self.values[register], number))
            else:
                source = choice.randrange(register // 3 + 1) * 3
                self.uses[number], self.values[register] = (source,), self.values[source]
        free = [n for n in range(count) if not self.uses[n] and not self.is_gone[n]]
        self.varying = set(choice.sample(free, len(free) // 3))
        self.sources = [n for n in free if n not in self.varying]

    def of(self, register: int) -> list[int]:
        number = self.only[register]
        return [number] if number >= 0 else self.several.get(register, [])

    def may_be_uniform(self, number: int) -> bool:
        return (
            self.kinds[number] in self.operations
            and self.guards[number] < 0
            and len(self.defs[number]) == 1
            and not self.partial[number]
            and not self.is_gone[number]
        )

    def reads_known(self, number: int, words: set[int]) -> bool:
        known = words | self.loads.keys()
        uses = self.uses[number]
        return number not in self.varying and all(
            self.values[one] and known.issuperset(self.values[one]) for one in uses
        )

    def expected(self) -> tuple[set[int], set[int]]:
        variables = {
            one
            for one in self.several
            if 0 < len(self.allocated[one]) <= 2 and all(map(self.may_be_uniform, self.of(one)))
        }
        words = {word for one in variables for word in self.allocated[one]}
        numbers = {number for one in variables for number in self.of(one)}
        found = True
        while found:
            found = False
            for number, defs in enumerate(self.defs):
                if number in numbers or not self.may_be_uniform(number):
                    continue
                if not self.reads_known(number, words):
                    continue
                held = self.values[defs[0]]
                if held is self.allocated[defs[0]] and self.only[defs[0]] == number and 0 < len(held) <= 2:
                    numbers.add(number)
                    words.update(held)
                    found = True
        while wrong := {number for number in numbers if not self.reads_known(number, words)}:
            for register in {self.defs[number][0] for number in wrong}:
                words.difference_update(self.allocated[register])
                numbers.difference_update(self.of(register))
        return words, numbers

    def found(self) -> tuple[set[int], set[int]]:
        return uniform_values(
            self.uses, self.defs, self.partial, self.guards, self.kinds, self.values, self.allocated,
            self.is_gone, self.loads, self.only, self.several, Readers(self.uses, _REGISTERS),
            self.operations, self.varying, list(set(self.loads.values())), self.sources,
        )  # fmt: skip


@pytest.mark.parametrize("seed", seeds(100, 2000))
def test_uniform_values(seed: int) -> None:
    program = _Program(Random(seed), Random(seed).choice((0, 5, 15, 30)))
    assert program.found() == program.expected()


def test_other_arguments_are_an_error() -> None:
    for damage in ("uses", "kinds", "only", "allocated", "sources", "guards"):
        program = _Program(Random(2), 20)
        setattr(program, damage, [99] if damage == "sources" else [])
        with pytest.raises((IndexError, TypeError, ValueError)):
            program.found()
