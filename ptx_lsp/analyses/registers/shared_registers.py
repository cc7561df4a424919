"""How the results of instructions share virtual registers with what they read (`virtual_registers.py`, 2):
it follows from the shapes of the instructions, and for a few of them from their operands.

1. A *group* are instructions whose results share in the same way (`Sharing`), if only instructions of some
   kinds read them, and only at some places among their uses.
2. `_flow.share_registers` finds the values of the registers, in the order of their numbers. The first of a
   cycle gets its own, and so do copies of copies beyond a depth of 100.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from ptx_lsp.analyses._flow import Readers
from ptx_lsp.analyses.dataflow.definitions import Definitions
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind, kind_of
from ptx_lsp.analyses.instructions.operands import register_of
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER
from ptx_lsp.analyses.registers.machine_kind import Coalescing, coalescing, modifiable_by
from ptx_lsp.analyses.registers.scaled_indices import ScaledIndices
from ptx_lsp.isa.matching.operand_access import READ
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final, TypeAlias

    Places: TypeAlias = dict[InstructionKind, bytes | None]
    """The kinds of instructions that may read a register, with the places among their uses; None for all."""
    Group: TypeAlias = tuple[int, list[int], Places | None, list[tuple[int, ...]] | None]
    """How the results of instructions share (`Sharing`), those instructions, which others may read their
    results, and what each packs, `NO_REGISTER` for a constant.
    """

_BANKED: Final = frozenset({"%ntid", "%nctaid"})
_ADDRESSED: Final = frozenset({"ld", "ldu", "st", "atom", "red", "prefetch", "ldmatrix", "stmatrix"})
_ADDRESSED_IN_SHARED: Final = _ADDRESSED | {"cp"}
"""`cp.async` has an offset for shared memory only."""
_PACKING: Final = frozenset({"mov"})
_SUMS: Final = frozenset({"add.s64", "add.u64"})
_WORD: Final = 32
_LOWER: Final = 0xFFFFFFFF
_UPPER: Final = (-0x100000000, 0xFFFFFFFF00000000)
_NUMBERS: Final = frozenset({"integer", "float", "single", "double"})


class Sharing:
    """The virtual registers that the result of an instruction has, as in `native/sharing.h`: of the only
    register that it reads if nothing else is said. All but `SCALED` need a source with at most one
    definition.
    """

    ITS_OWN: Final = 1
    """Its own virtual registers, but the instruction is eliminated."""
    NOTHING: Final = 2
    PACKED: Final = 3
    """The registers of the parts, if they are as many as it needs."""
    UNPACKED: Final = 4
    """Its part, if the source has as many as all parts, or the word that holds two of them."""
    SAME_SIZE: Final = 5
    """All, if it needs as many."""
    WHOLE: Final = 6
    """All."""
    IN_REGISTERS: Final = 7
    """All, if the source is not a constant."""
    SCALED: Final = 8
    """As many as it needs, filled with `NO_REGISTER`."""
    WIDENED: Final = 9
    """The first as the lower half."""
    NARROWED: Final = 10
    """The first."""
    UPPER_MOVED: Final = 11
    """The upper half as the lower half."""
    LOWER: Final = 12
    """The lower half of two."""
    UPPER: Final = 13
    """The upper half of two."""


_BY_SHAPE: Final = {
    Coalescing.PARAMETER: Sharing.ITS_OWN,
    Coalescing.WIDENED: Sharing.WIDENED,
    Coalescing.NARROWED: Sharing.NARROWED,
}


class SharedRegisters:
    """The groups of a function."""

    def __init__(
        self, function: Function, flow: FunctionInstructions, defined: Definitions, readers: Readers
    ) -> None:
        self.function = function
        self.flow = flow
        self.only = defined.only
        self.scaled = ScaledIndices(function, flow, defined, readers)
        self._places: dict[frozenset[str], Places] = {}

    def groups(self, by_shape: Iterable[tuple[Shape, list[int]]]) -> list[Group]:
        """The groups among instructions, which are given by their shapes."""
        found: list[Group] = []
        for shape, numbers in by_shape:
            how = coalescing(shape) if shape.arguments else Coalescing.NONE
            match how:
                case Coalescing.NONE:
                    continue
                case Coalescing.PARAMETER if not self.function.is_kernel:
                    continue
                case Coalescing.PARAMETER | Coalescing.WIDENED | Coalescing.NARROWED:
                    found.append((_BY_SHAPE[how], numbers, None, None))
                case Coalescing.MOVED:
                    found += self.moved(shape, numbers)
                case Coalescing.OFFSET:
                    if shape.arguments[-1].kind == "integer":
                        is_word = shape.spelling.endswith("32")
                        places = self.places_in_addresses(_ADDRESSED_IN_SHARED if is_word else _ADDRESSED)
                        found.append((Sharing.IN_REGISTERS, numbers, places, None))
                case Coalescing.SCALED:
                    found.append((Sharing.SCALED, self.scaled.kept(numbers), self.sums, None))
                case Coalescing.GENERIC:
                    found += self.generic(shape, numbers)
                case Coalescing.MODIFIED:
                    places = self.read_by(modifiable_by(shape.spelling))
                    found.append((Sharing.SAME_SIZE, numbers, places, None))
                case Coalescing.PACKED:
                    found.append((Sharing.SAME_SIZE, numbers, self.read_by(_PACKING), None))
                case Coalescing.HALF:
                    found += self.halves(numbers)
                case _:
                    loaded = [number for number in numbers if self.is_loaded(self.flow.uses[number])]
                    found.append((Sharing.SAME_SIZE, loaded, None, None))
        return found

    # -- the instructions that may read a result ------------------------------------------------------

    def read_by(self, opcodes: frozenset[str]) -> Places:
        """The kinds of instructions with these opcodes, at all places."""
        found: Places | None = self._places.get(opcodes)
        if found is None:
            found = {
                kind_of(shape): None for shape in shape_index(self.function) if shape.opcode in opcodes
            }
            self._places[opcodes] = found
        return found

    @cached_property
    def sums(self) -> Places:
        """The kinds of additions to addresses."""
        return {kind_of(shape): None for shape in shape_index(self.function) if shape.spelling in _SUMS}

    def places_in_addresses(self, opcodes: frozenset[str]) -> Places:
        """The kinds of instructions with these opcodes, and where they read registers in addresses."""
        found: Places | None = self._places.get(opcodes)
        if found is None:
            found = {
                kind_of(shape): _places_in_addresses(shape)
                for shape in shape_index(self.function)
                if shape.opcode in opcodes
            }
            self._places[opcodes] = found
        return found

    # -- what depends on operands ---------------------------------------------------------------------

    def is_loaded(self, registers: tuple[int, ...]) -> bool:
        """Whether the first of these registers is loaded."""
        number = self.only[registers[0]] if registers else -1
        return number >= 0 and self.flow.kinds[number].opcode == "ld"

    def moved(self, shape: Shape, numbers: list[int]) -> Iterator[Group]:
        """The groups of `mov` of a shape."""
        kinds = [argument.kind for argument in shape.arguments]
        if kinds[0] == "register" and len(kinds) == 2 and (kinds[1] == "register" or kinds[1] in _NUMBERS):
            yield Sharing.SAME_SIZE if kinds[1] == "register" else Sharing.NOTHING, numbers, None, None
            return
        uses, defs = self.flow.uses, self.flow.defs
        operands = {number: self.flow.body.instructions[number].operands[-1] for number in numbers}
        packs: list[int] = []
        packed: list[tuple[int, ...]] = []
        for number, operand in operands.items():
            if len(defs[number]) > 1:
                yield Sharing.UNPACKED, [number], None, None
            elif isinstance(operand, nodes.Vector):
                packs.append(number)
                packed.append(tuple(self.parts(operand)))
            elif uses[number]:
                yield Sharing.SAME_SIZE, [number], None, None
            else:
                name = operand.object if isinstance(operand, nodes.Member) else operand
                is_special = isinstance(name, nodes.Name) and name.text.startswith("%")
                if not is_special:
                    yield Sharing.NOTHING, [number], None, None
                elif isinstance(name, nodes.Name) and name.text in _BANKED:
                    yield Sharing.ITS_OWN, [number], None, None
        yield Sharing.PACKED, packs, None, packed

    def parts(self, source: nodes.Vector) -> Iterator[int]:
        """The registers that are packed, `NO_REGISTER` for constants."""
        for item in source.items:
            register = register_of(self.flow, item)
            yield NO_REGISTER if register is None else register

    def generic(self, shape: Shape, numbers: list[int]) -> Iterator[Group]:
        """The groups of `cvta` of a shape."""
        if ".local" in shape.spelling and ".to" not in shape.spelling:
            return
        yield Sharing.WHOLE, numbers, None, None
        yield Sharing.NOTHING, [number for number in numbers if not self.flow.uses[number]], None, None

    def halves(self, numbers: list[int]) -> Iterator[Group]:
        """The groups of shifts by 32 bits, and of masks of a half."""
        for number in numbers:
            value = literal(self.flow.body.instructions[number].operands[-1])
            if self.flow.kinds[number].opcode == "shr":
                how = Sharing.UPPER_MOVED if value == _WORD else 0
            else:
                how = Sharing.LOWER if value == _LOWER else Sharing.UPPER if value in _UPPER else 0
            if how:
                yield how, [number], None, None


@lru_cache(maxsize=1 << 14)
def _places_in_addresses(shape: Shape) -> bytes:
    """For each register that an instruction reads, up to the last in an address, whether it is in one."""
    found = bytearray()
    for argument, access in zip(shape.arguments, shape.accesses, strict=True):
        is_address = argument.kind == "address"
        if is_address or access.own & READ:
            parts = argument.parts or (argument,)
            found += bytes([is_address]) * sum(part.kind == "register" for part in parts)
    return bytes(found.rstrip(b"\0"))
