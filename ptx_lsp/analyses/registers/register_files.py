"""Where a target keeps the virtual registers of a kernel: in general registers, or elsewhere, that is in
uniform registers or the constant bank.

1. A uniform value (`uniform_values`) is in a uniform register only if every instruction that reads it can do
   so: another uniform operation, or an instruction that has no other uniform operand and no immediate one.
   Addresses in global memory, stored values, products that are added to a pointer, and products and shifts
   that are part of an addition need general registers. Then what they are computed from is in general
   registers too, as far as this holds for it.
2. Up to sm_89, instructions read parameters in the constant bank, except for addresses and stored values.
   sm_75 reads the address of a load in uniform registers.
3. From sm_90 on, parameters and `%ntid` are loaded: into uniform registers as of 1, else into general ones.
   Pointers to which a product is added need general registers: the multiplication has an immediate operand.
4. Each region loads what it reads, short before it does (`Operands`). What a loop reads is loaded before it
   (`straight_line_regions`).
5. From sm_100 on, the uniform datapath also compares integers, if all operands are uniform and the whole warp
   executes the comparison.

Source: machine code of ptxas 13.5 for sm_75, 80, 90, 100 and 120.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.analyses._flow import registers_holding
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.dataflow.definitions import readers
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER, word_flags
from ptx_lsp.analyses.registers.machine_kind import Coalescing, coalescing
from ptx_lsp.analyses.registers.uniform_values import (
    LOADS_PARAMETERS,
    UniformValues,
    uniform_values,
)
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.facts import fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.target import Target
from ptx_lsp.model.function import Function
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_CLASSES: Final = (75, 80, 90, 100)
"""The first targets of the classes with different rules."""
_TESTS: Final = 100
"""From this target on, uniform integers are compared by the uniform datapath."""
_ADDRESSED: Final = frozenset({"st", "ld", "atom", "red", "prefetch", "ldu"})
_ANYWHERE: Final = frozenset({
    "add", "sub", "mul", "mad", "fma", "min", "max", "and", "or", "xor", "lop3", "setp", "set", "selp",
    "prmt", "bfi", "cvt", "mov", "mul24", "mad24", "not", "neg", "abs", "dp4a", "sad", "slct", "popc", "clz",
    "brev",
})  # fmt: skip
"""What can read any of its operands elsewhere."""
_NOT_FIRST: Final = frozenset({"shl", "shr", "shf", "bfe"})
"""What can read another operand than the first elsewhere."""
_INTEGERS: Final = (".s32", ".u32", ".b32", ".s64", ".u64", ".b64")
_IMMEDIATE: Final = frozenset({"integer", "single", "double", "variable"})


def registers_elsewhere(function: Function, target: Target) -> bytes:
    """For each virtual register up to the last of them, whether `target` keeps it elsewhere."""
    known = _known(function)
    first = max([one for one in _CLASSES if one <= target.number], default=_CLASSES[0])
    found = known.get(first)
    if found is None:
        found = known[first] = _Placement(function, first).run()
    return found


@fact
def _known(_: Function) -> dict[int, bytes]:
    """What is known, by class; filled on demand."""
    return {}


class _Placement:
    def __init__(self, function: Function, target: int) -> None:
        left = virtual_registers(function)
        self.target = target
        self.only = left.definitions.only
        self.code = left.code
        self.flow = left.code.flow
        self.loads = left.code.loads
        self.block_of = cfg(function).block_of
        self.readers = readers(function)
        self.uniform: UniformValues = uniform_values(function, target)
        self.found: set[int] = {*self.uniform.words, *self.loads}
        """The virtual registers elsewhere, as far as is known."""
        self.several: set[int] = set()
        """The instructions with several operands elsewhere."""
        self.defining: dict[int, list[int]] = {}
        """The uniform operations that define a virtual register."""

    def run(self) -> bytes:
        of_registers, found = self.code.of_registers, self.found
        if not found:
            return b""
        for number in self.uniform.instructions:
            for word in self.words_defined(number):
                self.defining.setdefault(word, []).append(number)
        holding = registers_holding(of_registers, word_flags(found))
        reading = set[int]().union(*map(self.readers.of, holding))
        self.settle(sorted(reading), is_alone=False)
        self.settle(sorted(self.several), is_alone=True)
        return word_flags(found)

    def settle(self, waiting: list[int], *, is_alone: bool) -> None:
        """Finds what must be in general registers. Only then can it be decided which one of several uniform
        operands is (`is_alone`).
        """
        while waiting:
            number = waiting.pop()
            if not self.code.is_eliminated[number] and not self.is_uniform(number):
                for word in self.demanded(number, is_alone):
                    waiting += self.remove(word)

    def remove(self, word: int) -> list[int]:
        """Removes a virtual register, with the other half of a 64-bit value that is computed; returns the
        instructions that defined them.
        """
        self.found.discard(word)
        defining = self.defining.get(word, [])
        for number in defining:
            self.found.difference_update(self.words_defined(number))
        return defining

    def words_defined(self, number: int) -> tuple[int, ...]:
        words = self.code.of_registers[self.flow.defs[number][0]]
        return words if NO_REGISTER not in words else tuple([one for one in words if one != NO_REGISTER])

    def is_uniform(self, number: int) -> bool:
        """Whether an instruction is still a uniform operation."""
        if self.flow.kinds[number].opcode == "setp":
            return self.is_uniform_test(number)
        return (
            number in self.uniform.instructions
            and self.found.issuperset(self.words_defined(number))
        )

    def is_uniform_test(self, number: int) -> bool:
        """Whether a comparison is one of uniform integers, executed by the whole warp."""
        if self.target < _TESTS or not _is_integer_test(self.flow.kinds[number].shape):
            return False
        of_registers, found = self.code.of_registers, self.found
        return (
            all(
                word == NO_REGISTER or word in found
                for register in self.flow.uses[number]
                for word in of_registers[register]
            )
            and self.block_of[number] not in self.uniform.divergent
        )

    def demanded(self, number: int, is_alone: bool) -> list[int]:
        """The virtual registers that an instruction needs in general registers."""
        shape = self.flow.kinds[number].shape
        allowed = _allowed(shape, self.target)
        is_banked = self.target < LOADS_PARAMETERS and shape.opcode not in _ADDRESSED
        demanded: list[int] = []
        others: list[tuple[int, ...]] = []
        for place, register in enumerate(self.flow.uses[number]):
            held = self.code.of_registers[register]
            words = tuple([word for word in held if word in self.found])
            if not words or (is_banked and words[0] in self.loads):
                continue
            if place >= len(allowed) or not allowed[place] or self.is_part(number, register):
                demanded += words
            elif words not in others:
                others.append(words)
        if len(others) > 1:
            if is_alone:
                others.sort(key=lambda words: words[0] in self.loads)
                demanded += [word for words in others[1:] for word in words]
            else:
                self.several.add(number)
        return demanded

    def is_part(self, number: int, register: int) -> bool:
        """Whether an addition includes the multiplication or shift of one operand, and needs this operand."""
        flow = self.flow
        opcode = flow.kinds[number].opcode
        if opcode not in ("add", "sub"):
            return False
        at = self.only[register]
        if at >= 0 and not self.code.is_eliminated[at] and len(flow.defs[at]) == 1:
            shape = flow.kinds[at].shape
            return shape.opcode == "mul" or (shape.opcode == "shl" and len(flow.uses[at]) == 1)
        is_pointer = len(self.code.of_registers[register]) == 2
        return (
            is_pointer
            and self.target >= LOADS_PARAMETERS
            and any(map(self.is_scaled, flow.uses[number]))
        )

    def is_scaled(self, register: int) -> bool:
        """Whether a register is a 32-bit index that an addition scales."""
        at = self.only[register]
        if at < 0 or not self.code.is_eliminated[at]:
            return False
        shape = self.flow.kinds[at].shape
        return shape.opcode == "mul" and coalescing(shape) == Coalescing.SCALED


@lru_cache(maxsize=1 << 14)
def _is_integer_test(shape: Shape) -> bool:
    return shape.spelling.endswith(_INTEGERS)


@lru_cache(maxsize=1 << 14)
def _allowed(shape: Shape, target: int) -> tuple[bool, ...]:
    """For each register that an instruction reads, whether it can read it elsewhere."""
    if shape.opcode in _ADDRESSED:
        is_banked = target < LOADS_PARAMETERS
        is_free = target < 80 if is_banked else ".shared" in shape.spelling
        return (is_free and shape.opcode == "ld",)
    sources = shape.arguments[1:]
    if any(one.parts for one in sources) or any(one.kind in _IMMEDIATE for one in sources):
        return ()
    places = [place for place, one in enumerate(sources) if one.kind == "register"]
    if shape.opcode in _ANYWHERE:
        return (True,) * len(places)
    return tuple([place > 0 for place in places]) if shape.opcode in _NOT_FIRST else ()
