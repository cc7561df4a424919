"""The values of a function as machine code would hold them.

A *word* is 32 bits that need a register of the machine. It is a number; each word is made at one place,
and may stand for parts of several registers of PTX.

1. A register has one word for every 32 bits of its type, at least one; predicates have none (they live
   elsewhere), and neither have registers that nothing writes.
2. A register that is written once, without a guard, may be the same words as others:
   - `mov` and `cvta` copy; `mov` that packs or unpacks takes the words of its parts; so do `cvt` between
     32 and 64 bits, where the upper half follows from the lower one.
   - An integer constant added to an address disappears in the offset of the `ld` or `st` that uses it.
   - A product or shift that is only added to an address disappears in the addition.
3. Constants, addresses of variables, parameters of a kernel, `%ntid` and `%nctaid` are read from the
   instruction or from the constant bank: they need no word (`FREE`).
4. A slot of local memory, such as compilers without optimisation give to each variable, is held in words
   as well, provided that it is only ever read and written as a whole, at a constant offset.
5. What makes none of the values that are left is gone: it is no operation of the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from analyses.local_slots import local_slots
from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import fact
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.syntax import nodes

FREE: Final = -1
"""In place of a word: a value that needs no register."""

_BANKED: Final = frozenset({"%ntid", "%nctaid"})
_ADDRESSED: Final = frozenset({"ld", "ldu", "st", "atom", "red", "prefetch", "ldmatrix", "stmatrix"})
_SUMS: Final = frozenset({"add.s64", "add.u64"})
_DEEP: Final = 200
"""Copies of copies are followed so far, unless the text has them in order: then without end."""
_OFFSETS: Final = frozenset({"add.s64", "add.u64", "add.s32", "add.u32"})


class Operation(NamedTuple):
    """A step that is left, with the words that it reads and writes.

    `keeps` are the written words of which something remains. `flags_read` and `flags_written` are registers
    without words: predicates. `materialised` is how many more registers it needs while it happens, for
    constants that it cannot take as they are.
    """

    step: Step
    reads: frozenset[int]
    writes: frozenset[int]
    keeps: frozenset[int]
    flags_read: tuple[int, ...]
    flags_written: tuple[int, ...]
    materialised: int


@dataclass(frozen=True)
class Words:
    """For each register of `Steps.registers` its words, lowest first; for each step what is left of it."""

    values: tuple[tuple[int, ...], ...]
    operations: tuple[Operation | None, ...]
    count: int


@fact
def words(function: Function) -> Words:
    """The words of `function`."""
    return _Lowering(function, steps(function)).run()


def constant(value: nodes.Operand) -> int | None:
    """The integer that an operand is; None where it is none."""
    match value:
        case nodes.Number(kind="integer", text=text):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(kind="integer", text=text)):
            number = integer(text)
            return None if number is None else -number
        case _:
            return None


class _Lowering:
    def __init__(self, function: Function, flow: Steps) -> None:
        self.function = function
        self.flow = flow
        self.sizes = [_size(register.type, register.vector) for register in flow.registers]
        self.writers: list[list[Step]] = [[] for _ in flow.registers]
        self.readers: list[list[Step]] = [[] for _ in flow.registers]
        for step in flow.steps:
            for register in step.writes:
                self.writers[register].append(step)
            for register in step.reads:
                self.readers[register].append(step)
        self.slots = local_slots(function)
        self.slot_words: dict[tuple[object, ...], tuple[int, ...]] = {}
        self.values: list[tuple[int, ...] | None] = [None] * len(flow.registers)
        self.pending = [False] * len(flow.registers)
        self.made = [False] * len(flow.registers)
        self.gone: set[int] = set()
        self.count = 0
        self.depth = 0

    def run(self) -> Words:
        values = tuple(self.value(register) for register in range(len(self.values)))
        operations = tuple(self.operation(step) for step in self.flow.steps)
        return Words(values, operations, self.count)

    def operation(self, step: Step) -> Operation | None:
        if step.number in self.gone:
            return None
        reads = {word for register in step.reads for word in self.value(register)}
        writes = {word for register in step.writes for word in self.own(register)}
        keeps = {word for register in step.keeps for word in self.own(register)}
        slot = self.slots.get(step.number)
        if slot is not None:
            held = set(self.slot(slot.key, slot.bytes))
            if step.opcode == "st":
                writes, reads = held, {w for r in slot.values for w in self.value(r)}
            else:
                reads = held
        reads.discard(FREE)
        flags = tuple(register for register in step.reads if not self.sizes[register])
        return Operation(
            step, frozenset(reads), frozenset(writes), frozenset(keeps),
            (*flags, step.guard) if step.guard >= 0 else flags,
            tuple(register for register in step.writes if not self.sizes[register]),
            self.materialised(step),
        )

    # -- the words of a register ----------------------------------------------------------------

    def own(self, register: int) -> tuple[int, ...]:
        """The words that writing `register` makes."""
        return self.value(register) if self.made[register] else ()

    def value(self, register: int) -> tuple[int, ...]:
        known = self.values[register]
        if known is not None:
            return known
        found: tuple[int, ...] | None = None
        if not self.sizes[register] or not self.writers[register]:
            found = ()
        elif self.is_single(register) and not self.pending[register] and self.depth < _DEEP:
            self.pending[register] = True  # a value that needs itself is a register of its own
            self.depth += 1
            found = self.shared(register, self.writers[register][0])
            self.depth -= 1
            if found is not None and self.values[register] is None:
                self.gone.add(self.writers[register][0].number)
        known = self.values[register]  # found meanwhile, by way of itself
        if known is not None:
            return known
        if found is None:
            found = self.fresh(self.sizes[register])
            self.made[register] = True
        self.values[register] = found
        return found

    def fresh(self, count: int) -> tuple[int, ...]:
        first = self.count
        self.count += count
        return tuple(range(first, self.count))

    def is_single(self, register: int) -> bool:
        writers = self.writers[register]
        return len(writers) == 1 and not writers[0].keeps

    def single(self, registers: Sequence[int]) -> tuple[int, ...] | None:
        """The words of the only one of `registers`, if it is written once or never."""
        if len(registers) != 1 or not (
            self.is_single(registers[0]) or not self.writers[registers[0]]
        ):
            return None
        return self.value(registers[0])

    def shared(self, register: int, step: Step) -> tuple[int, ...] | None:
        """The words that the one write of `register` takes from elsewhere; None where it makes some."""
        size = self.sizes[register]
        match step.opcode:
            case "mov":
                return self.moved(register, step, size)
            case "ld" if not step.reads and self.function.is_kernel and ".param" in step.spelling:
                return (FREE,) * size
            case "cvta":
                return self.single(step.reads) if step.reads else (FREE,) * size
            case "cvt":
                return self.converted(step)
            case "add" if step.spelling in _OFFSETS and self.is_offset(register, step):
                base = self.single(step.reads)
                return base if base and any(word != FREE for word in base) else None
            case "mul" | "shl" if self.is_scaled_index(register, step):
                index = self.single(step.reads)
                return None if index is None else (*index, *(FREE,) * size)[:size]
            case _:
                return None

    def moved(self, register: int, step: Step, size: int) -> tuple[int, ...] | None:
        source = step.node.operands[-1]
        if len(step.writes) > 1:
            whole = self.single(step.reads)
            if whole is None:
                return None
            at = step.writes.index(register) * size
            return whole[at : at + size] if size * len(step.writes) == len(whole) else None
        if isinstance(source, nodes.Vector):
            return self.packed(source, size)
        if step.reads:
            whole = self.single(step.reads)
            return whole if whole is not None and len(whole) == size else None
        name = source.object if isinstance(source, nodes.Member) else source
        if isinstance(name, nodes.Name) and name.text.startswith("%"):
            return (FREE,) * size if name.text in _BANKED else None
        return (FREE,) * size

    def packed(self, source: nodes.Vector, size: int) -> tuple[int, ...] | None:
        if size < 2:
            return None
        parts: list[int] = []
        for item in source.items:
            register = self.register(item)
            if register is None:
                parts.append(FREE)
                continue
            whole = self.single((register,))
            if whole is None:
                return None
            parts.extend(whole)
        return tuple(parts) if len(parts) == size else None

    def converted(self, step: Step) -> tuple[int, ...] | None:
        if step.spelling in ("cvt.u64.u32", "cvt.s64.s32"):
            low = self.single(step.reads)
            return (low[0], FREE) if low else None
        if step.spelling in ("cvt.u32.u64", "cvt.s32.s64"):
            whole = self.single(step.reads)
            return whole[:1] if whole else None
        return None

    def is_offset(self, register: int, step: Step) -> bool:
        """Whether `register` is a constant away from another, and stands in addresses only."""
        if len(step.reads) != 1 or constant(step.node.operands[-1]) is None:
            return False
        return all(
            use.opcode in _ADDRESSED and not self.stands_outside(register, use)
            for use in self.readers[register]
        )

    def stands_outside(self, register: int, use: Step) -> bool:
        """Whether `register` stands in `use` elsewhere than in an address."""
        return any(
            self.register(part) == register
            for operand in use.node.operands
            for part in (operand.items if isinstance(operand, nodes.Vector) else (operand,))
        )

    def is_scaled_index(self, register: int, step: Step) -> bool:
        if not (step.spelling.startswith("mul.wide") or step.spelling == "shl.b64"):
            return False
        uses = self.readers[register]
        return len(step.reads) == 1 and all(use.spelling in _SUMS for use in uses)

    def register(self, operand: nodes.Operand) -> int | None:
        if not isinstance(operand, nodes.Name):
            return None
        symbol = self.function.body.symbols.get(operand.start)
        return self.flow.numbers.get(id(symbol)) if symbol is not None else None

    # -- slots and constants --------------------------------------------------------------------

    def slot(self, key: tuple[object, ...], size_bytes: int) -> tuple[int, ...]:
        if key not in self.slot_words:
            self.slot_words[key] = self.fresh(max(1, size_bytes // 4))
        return self.slot_words[key]

    def materialised(self, step: Step) -> int:
        """A store takes its values from registers; only a single zero is one already."""
        if step.opcode != "st" or ".param" in step.spelling or len(step.node.operands) < 2:
            return 0
        source = step.node.operands[1]
        items = source.items if isinstance(source, nodes.Vector) else (source,)
        size = 2 if "64" in step.spelling else 1
        zeros = others = held = 0
        for item in items:
            register = self.register(item)
            value = self.values[register] if register is not None else None
            if value and value[0] != FREE:
                held += 1
            elif self.known(item) == 0:
                zeros += size
            else:
                others += size
        return others + (zeros if others or (held and len(items) > 1) else 0)

    def known(self, item: nodes.Operand) -> int | None:
        register = self.register(item)
        if register is None:
            return constant(item)
        writers = self.writers[register]
        if len(writers) == 1 and writers[0].opcode == "mov" and not writers[0].reads:
            return constant(writers[0].node.operands[-1])
        return None


def _size(type: str, vector: int) -> int:
    found = TYPES.get(type)
    if found is None:
        return vector
    return 0 if found.width <= 1 else vector * max(1, found.width // 32)
