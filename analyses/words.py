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
   The generic address of a local variable does, for it is computed.
4. What makes none of the values that are left is gone: it is no operation of the machine.
5. The words of a register have numbers of their own, whatever other registers there are. After an edit,
   those registers are looked at again that a step names which came or went, and those that may take
   their words from such a register.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from analyses.numbering import Numbering
from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import Earlier, lasting_fact
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
_SHARING: Final = frozenset({"mov", "ld", "cvta", "cvt", "add", "mul", "shl"})
"""What may take the words of what it reads."""
_OFFSETS: Final = frozenset({"add.s64", "add.u64", "add.s32", "add.u32"})


class Operation(NamedTuple):
    """A step that is left (its number may be an earlier one), with the words that it reads and writes.

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
    found: _Found


class _Found(NamedTuple):
    """For each register the steps that write it, those that read it, and whether words are made for it; then
    where the steps begin that are gone, all steps, and how the registers are numbered.
    """

    writers: list[list[Step]]
    readers: list[list[Step]]
    made: list[bool]
    gone: set[int]
    steps: tuple[Step, ...]
    sizes: list[int]
    """Of each register how many words it has."""
    numbering: Numbering


@lasting_fact
def words(function: Function, earlier: Earlier[Words] | None) -> Words:
    """The words of `function`."""
    flow = steps(function)
    if earlier is None or earlier.value.found.numbering != flow.numbering:
        sizes = [_size(register.type, register.vector) for register in flow.registers]
        return _Lowering(function, flow, sizes).run()
    return _Lowering(function, flow, earlier.value.found.sizes).run_again(earlier)


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
    def __init__(self, function: Function, flow: Steps, sizes: list[int]) -> None:
        self.function = function
        self.flow = flow
        self.sizes = sizes
        self.firsts = [0, *accumulate(self.sizes)]
        self.writers: list[list[Step]] = []
        self.readers: list[list[Step]] = []
        self.values: list[tuple[int, ...] | None] = [None] * len(flow.registers)
        self.pending = [False] * len(flow.registers)
        self.made = [False] * len(flow.registers)
        self.gone: set[int] = set()
        self.depth = 0

    def run(self) -> Words:
        self.writers = [[] for _ in self.flow.registers]
        self.readers = [[] for _ in self.flow.registers]
        for step in self.flow.steps:
            for register in step.writes:
                self.writers[register].append(step)
            for register in step.reads:
                self.readers[register].append(step)
        values = tuple([self.value(register) for register in range(len(self.values))])
        return self.words(values, [self.operation(step) for step in self.flow.steps])

    def words(
        self, values: tuple[tuple[int, ...], ...], operations: Sequence[Operation | None]
    ) -> Words:
        flow = self.flow
        found = _Found(
            self.writers, self.readers, self.made, self.gone, flow.steps, self.sizes, flow.numbering
        )
        return Words(values, tuple(operations), self.firsts[-1], found)

    def operation(self, step: Step) -> Operation | None:
        if step.node.start in self.gone:
            return None
        reads = {word for register in step.reads for word in self.value(register)}
        writes = {word for register in step.writes for word in self.own(register)}
        keeps = {word for register in step.keeps for word in self.own(register)}
        reads.discard(FREE)
        flags = tuple(register for register in step.reads if not self.sizes[register])
        return Operation(
            step, frozenset(reads), frozenset(writes), frozenset(keeps),
            (*flags, step.guard) if step.guard >= 0 else flags,
            tuple(register for register in step.writes if not self.sizes[register]),
            self.materialised(step),
        )

    # -- after an edit --------------------------------------------------------------------------

    def run_again(self, earlier: Earlier[Words]) -> Words:
        """From the words before."""
        before, (first, old_end, end) = earlier
        came = self.flow.steps[first:end]
        went = before.found.steps[first:old_end]
        named = self.replace(before.found, went, came)
        touched = self.dependent(named)
        self.values = list(before.values)
        self.made = list(before.found.made)
        again = {step.node.start: step for step in came}
        for register in touched:
            for step in (*self.writers[register], *self.readers[register]):
                again[step.node.start] = step
            self.values[register] = None
            self.made[register] = False
        self.gone = before.found.gone - again.keys() - {step.node.start for step in went}
        values = tuple([
            self.value(register) if found is None else found
            for register, found in enumerate(self.values)
        ])  # fmt: skip
        operations = [*before.operations[:first], *[None] * len(came), *before.operations[old_end:]]
        for step in again.values():
            operations[self.number(step)] = self.operation(step)
        return self.words(values, operations)

    def number(self, step: Step) -> int:
        """Of a step that was there before the edit, the number that it has now."""
        offset = self.function.item.offset
        at = offset(step.node.start)
        return bisect_left(self.flow.steps, at, key=lambda one: offset(one.node.start))

    def replace(
        self, found: _Found, went: Sequence[Step], came: Sequence[Step]
    ) -> set[int]:
        """Makes writers and readers those of the steps as they are; the registers that these name."""
        self.writers, self.readers = list(found.writers), list(found.readers)
        starts = {step.node.start for step in went}
        named = {register for step in (*went, *came) for register in (*step.reads, *step.writes)}
        for lists in (self.writers, self.readers):
            for register in named:
                lists[register] = [one for one in lists[register] if one.node.start not in starts]
        for step in came:
            for register in step.writes:
                self.writers[register].append(step)
            for register in step.reads:
                self.readers[register].append(step)
        return named

    def dependent(self, named: set[int]) -> set[int]:
        """These registers, and all that may take their words from one of them."""
        found = set(named)
        waiting = list(named)
        while waiting:
            for step in self.readers[waiting.pop()]:
                if step.opcode in _SHARING:
                    more = [one for one in step.writes if one not in found]
                    found.update(more)
                    waiting.extend(more)
        return found

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
                self.gone.add(self.writers[register][0].node.start)
        known = self.values[register]  # found meanwhile, by way of itself
        if known is not None:
            return known
        if found is None:
            found = tuple(range(self.firsts[register], self.firsts[register + 1]))
            self.made[register] = True
        self.values[register] = found
        return found

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
                return self.generic(step, size)
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

    def generic(self, step: Step, size: int) -> tuple[int, ...] | None:
        if ".local" in step.spelling and ".to" not in step.spelling:
            return None
        return self.single(step.reads) if step.reads else (FREE,) * size

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

    # -- constants --------------------------------------------------------------------------

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
