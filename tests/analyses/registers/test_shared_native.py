"""Shared virtual registers in C, compared with the definition on random code."""

from __future__ import annotations

from random import Random
from typing import cast

import pytest

from ptx_lsp.analyses._flow import Readers, definitions, share_registers
from ptx_lsp.analyses.dataflow.definitions import SEVERAL
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from ptx_lsp.analyses.registers.shared_registers import Sharing
from ptx_lsp.static_typing import TYPE_CHECKING
from tests.strength import seeds

if TYPE_CHECKING:
    from ptx_lsp.analyses.registers.shared_registers import Group, Places

Words = tuple[int, ...]
_REGISTERS = 20
_DEPTH = 100


class _Program:
    """Copies of many kinds between registers of up to three words, also in cycles."""

    def __init__(self, choice: Random, count: int) -> None:
        self.allocated: list[Words] = []
        for register in range(_REGISTERS):
            size = choice.choice((0, 1, 1, 1, 2, 2, 3))
            self.allocated.append(tuple(range(3 * register, 3 * register + size)))
        registers = range(_REGISTERS)
        sizes = (0, 1, 1, 1, 1, 1, 2)
        self.uses = [tuple(choice.choices(registers, k=choice.choice(sizes))) for _ in range(count)]
        self.defs = [tuple(choice.sample(registers, choice.choice(sizes))) for _ in range(count)]
        self.only, _ = definitions(self.defs, [()] * count, _REGISTERS)
        kinds = [InstructionKind.__new__(InstructionKind) for _ in range(3)]
        self.kinds = [choice.choice(kinds) for _ in range(count)]
        places: Places = {kinds[0]: None, kinds[1]: choice.choice((b"", b"\1", b"\0\1"))}
        self.groups: list[Group] = []
        for number in choice.sample(range(count), count * 4 // 5):
            how = choice.randrange(Sharing.ITS_OWN, Sharing.UPPER + 1)
            parts = [tuple(choice.choices(range(-1, _REGISTERS), k=choice.randrange(4)))]
            readers = choice.choice((None, None, places))
            self.groups.append((how, [number], readers, parts if how == Sharing.PACKED else None))

    def values(self, wanted: set[int] | None) -> tuple[list[Words], bytearray]:
        """What the function in C finds."""
        found, gone = list(self.allocated), bytearray(len(self.uses))
        readers = Readers(self.uses, _REGISTERS)
        share_registers(
            self.uses, self.defs, self.kinds, self.only, self.allocated, found, gone, readers, self.groups,
            wanted,
        )  # fmt: skip
        return found, gone


class _Definition:
    """The same by the definition."""

    def __init__(self, program: _Program, wanted: set[int]) -> None:
        self.program = program
        self.found = list(program.allocated)
        self.gone = bytearray(len(program.uses))
        self.open: set[int] = set()
        self.rules = {
            register: group
            for group in program.groups
            for register in program.defs[group[1][0]]
            if program.only[register] == group[1][0] and program.allocated[register] and register in wanted
        }
        for register, group in list(self.rules.items()):
            if group[0] <= Sharing.NOTHING:
                del self.rules[register]
                if not program.uses[group[1][0]]:
                    self.gone[group[1][0]] = True
                    if group[0] == Sharing.NOTHING:
                        self.found[register] = (-1,) * len(program.allocated[register])
        for register in sorted(self.rules):
            self.value(register)

    def value(self, register: int) -> Words:
        group = self.rules.get(register)
        if group is not None:
            words = None
            if register not in self.open and len(self.open) < _DEPTH:
                self.open.add(register)
                words = self.shared(register, group)
                self.open.discard(register)
            if self.rules.pop(register, None) and words is not None:
                self.gone[group[1][0]] = True
                self.found[register] = words
        return self.found[register]

    def shared(self, register: int, group: Group) -> Words | None:
        how, (number,), readers, parts = group
        program, size = self.program, len(self.program.allocated[register])
        for reader, uses in enumerate(program.uses):
            if readers is not None and register in uses:
                if program.kinds[reader] not in readers:
                    return None
                places = readers[program.kinds[reader]]
                if places is not None and any(
                    one == register and places[n : n + 1] != b"\1" for n, one in enumerate(uses)
                ):
                    return None
        if how == Sharing.PACKED:
            assert parts is not None
            return self.packed(parts[0], size)
        uses, defs = program.uses[number], program.defs[number]
        if len(uses) != 1 or (program.only[uses[0]] == SEVERAL and how != Sharing.SCALED):
            return None
        words = self.value(uses[0])
        if how == Sharing.UNPACKED:
            at = defs.index(register)
            if size == 1 and len(defs) == 2 * len(words):
                return (words[at // 2],)
            return words[at * size : (at + 1) * size] if size * len(defs) == len(words) else None
        found: dict[int, Words | None] = {
            Sharing.SAME_SIZE: words if len(words) == size else None,
            Sharing.WHOLE: words,
            Sharing.IN_REGISTERS: words if set(words) - {-1} else None,
            Sharing.SCALED: (*words, -1, -1, -1)[:size],
            Sharing.WIDENED: (words[0], -1) if words else None,
            Sharing.NARROWED: words[:1] or None,
            Sharing.UPPER_MOVED: (words[1], -1) if len(words) > 1 else None,
            Sharing.LOWER: (words[0], -1) if len(words) > 1 else None,
            Sharing.UPPER: (-1, words[1]) if len(words) > 1 else None,
        }
        return found[how]

    def packed(self, parts: Words, size: int) -> Words | None:
        found: list[int] = []
        for part in parts:
            if size < 2 or (part >= 0 and self.program.only[part] == SEVERAL):
                return None
            found += self.value(part) if part >= 0 else (-1,)
            if len(found) > size:
                return None
        return tuple(found) if len(found) == size and size > 1 else None


@pytest.mark.parametrize("seed", seeds(60, 3000))
def test_shared_registers(seed: int) -> None:
    choice = Random(seed)
    program = _Program(choice, choice.choice((4, 12, 30)))
    wanted = set(choice.sample(range(_REGISTERS), choice.choice((_REGISTERS, 10))))
    expected = _Definition(program, wanted)
    assert program.values(wanted) == (expected.found, expected.gone)
    assert wanted != set(range(_REGISTERS)) or program.values(None) == (expected.found, expected.gone)


def test_a_long_chain_of_copies() -> None:
    count = 300
    uses: list[tuple[int, ...]] = [*((n + 1,) for n in range(count)), ()]
    defs: list[tuple[int, ...]] = [(n,) for n in range(count + 1)]
    own: list[tuple[int, ...]] = [(n,) for n in range(count + 1)]
    found, gone = list(own), bytearray(count + 1)
    kinds = [InstructionKind.__new__(InstructionKind)] * (count + 1)
    group: Group = (Sharing.SAME_SIZE, list(range(count)), None, None)
    only = list(range(count + 1))
    share_registers(uses, defs, kinds, only, own, found, gone, Readers(uses, count + 1), [group], None)
    assert (found[0], found[_DEPTH]) == ((_DEPTH,), (_DEPTH,))
    assert gone[:_DEPTH] == b"\1" * _DEPTH and not gone[_DEPTH]


_NONE = Readers([()], 1)


_REFUSED: list[list[object]] = [
    [(0, [0], None, None)],
    [(Sharing.UPPER + 1, [0], None, None)],
    [(Sharing.WHOLE, [1], None, None)],
    [(Sharing.WHOLE, ["0"], None, None)],
    [(Sharing.WHOLE, [0], b"", None)],
    [(Sharing.PACKED, [0], None, None)],
    [(Sharing.PACKED, [0], None, [])],
    [(Sharing.PACKED, [0], None, [(9, 0)])],
    [(Sharing.PACKED, [0], None, [("0", 0)])],
    [(Sharing.PACKED, [0], None, [None])],
    [()],
    [None],
]


@pytest.mark.parametrize("groups", _REFUSED)
def test_what_cannot_be_read_is_refused(groups: list[object]) -> None:
    kinds = [InstructionKind.__new__(InstructionKind)]
    words: list[tuple[int, ...]] = [(0, 1)]
    given = cast("list[Group]", groups)
    with pytest.raises((ValueError, IndexError, TypeError, SystemError)):
        share_registers([()], [(0,)], kinds, [0], words, list(words), bytearray(1), _NONE, given, None)


def test_lists_of_other_lengths_are_refused() -> None:
    words: list[tuple[int, ...]] = [()]
    for only, own, count in ((list[int](), words, 1), ([0], words[1:], 1), ([0], words, 2), ([0], words, 0)):
        with pytest.raises((ValueError, IndexError)):
            share_registers([()], [()], [], only, own, [()], bytearray(count), _NONE, [], None)
