"""Pointer provenance: the state space and, if known, the variable that an address in a register points into.

1. Only a register with a single definition that is unguarded has provenance.
2. `mov` of a variable's name gives its address in its own state space.
3. `cvta.SPACE` converts any value to a generic address into SPACE; `cvta.to.SPACE` the reverse.
4. A parameter of a kernel that is declared with `.ptr .SPACE` holds a generic address into SPACE.
5. `mov`, and `add` or `sub` of a constant, keep the provenance at another offset. `add` of a register without
   provenance keeps it at an unknown offset, assumed to stay within the same variable.
6. An instruction sees only the provenance of registers that are defined before it in the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from itertools import chain

from ptx_lsp.analyses.dataflow.definitions import definitions
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions, instructions
from ptx_lsp.facts import InstructionResults, Previous, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives, woken_by
from ptx_lsp.model.instructions.access import size_bytes
from ptx_lsp.model.instructions.features import ADDRESS, VARIABLE
from ptx_lsp.model.instructions.wakes import InstructionWake, is_awake, wakes_of, waking
from ptx_lsp.model.symbols import Register, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

if TYPE_CHECKING:
    from typing import Final

_SPACES: Final = ("global", "shared", "local", "const")
_NAMED: Final = frozenset({*_SPACES, "param"})
_PRESERVING: Final = InstructionWake(opcodes=("mov", "cvta", "add", "sub", "ld"))
"""Instructions whose results may have provenance."""
_MEMORY: Final = InstructionWake(opcodes=("ld", "ldu", "st", "atom", "red"), features=ADDRESS)
_LOADED: Final = InstructionWake(spelled=lambda spelling: spelling.startswith("ld.param."))


def _is_source(shape: Shape) -> bool:
    return shape.opcode == "cvta" or shape.features & VARIABLE != 0


_SOURCES: Final = InstructionWake(opcodes=("mov", "cvta", "add", "sub"), where=_is_source)
"""Instructions whose results may have provenance without an operand that has one; also `_LOADED`, in a kernel
with a parameter declared with `.ptr`.
"""


def _has_pointer_parameter(function: Function) -> bool:
    return any(
        word.text == ".ptr"
        for parameter in function.body.parameters
        if isinstance(parameter, Variable)
        for word in parameter.declaration.modifiers
    )


POINTERS: Final = woken_by(_SOURCES) | (woken_by(_LOADED) & having_directives(_has_pointer_parameter))
"""A function needs one of these for a register to have provenance."""


class Provenance(NamedTuple):
    """`space` includes its dot. `offset` is in bytes, from the start of `variable` or from an unknown
    address; None if a register has been added. `is_generic`: the address is generic.
    """

    space: str
    variable: Variable | None
    offset: int | None
    is_generic: bool

    def offset_by(self, by: int | None) -> Provenance:
        offset = self.offset + by if by is not None and self.offset is not None else None
        if offset == self.offset:
            return self
        return Provenance(self.space, self.variable, offset, self.is_generic)


class PointerAccess(NamedTuple):
    """A `ld`, `st`, `atom` or `red` at an address with provenance, including the offset in the address.

    `size` is in bytes; None where the table does not give it.
    """

    node: nodes.Instruction
    address: nodes.Expression
    provenance: Provenance
    size: int | None


class PointerProvenance:
    """The provenance of registers. A register with unchanged provenance keeps the same object after an edit.
    """

    __slots__ = ("flow", "in_variables", "indices", "of_registers")

    def __init__(
        self,
        of_registers: dict[Register, Provenance],
        indices: frozenset[int],
        in_variables: frozenset[int],
        flow: FunctionInstructions,
    ) -> None:
        self.of_registers = of_registers
        self.indices = indices
        """The indices of these registers."""
        self.in_variables = in_variables
        """The indices of those that point into a known variable."""
        self.flow = flow

    def is_valid_after(self, change: InstructionRangeEdit, flow: FunctionInstructions) -> bool:
        """Whether an edit certainly left the provenance of all registers unchanged: neither the old nor the
        new instructions give provenance or use a register with it, and no register has lost only some of its
        definitions.
        """
        first, old_end, end = change
        if self.flow.register_index != flow.register_index:
            return False
        lost = Counter(chain.from_iterable(self.flow.defs[first:old_end]))
        lost.subtract(chain.from_iterable(flow.defs[first:end]))
        registers = {register for register, count in lost.items() if count > 0}
        if registers and not registers.isdisjoint(chain.from_iterable(flow.defs)):
            return False
        return not self._is_involved(self.flow, first, old_end) and not self._is_involved(flow, first, end)

    def _is_involved(self, flow: FunctionInstructions, first: int, end: int) -> bool:
        sources = _SOURCES.bit | _LOADED.bit
        for number in range(first, end):
            if wakes_of(flow.kinds[number].shape) & sources:
                return True
            if not self.indices.isdisjoint(flow.uses[number] + flow.defs[number]):
                return True
        return False


_NOWHERE: Final = frozenset[int]()


@incremental_fact
def pointer_provenance(function: Function, earlier: Previous[PointerProvenance] | None) -> PointerProvenance:
    """The provenance of the registers of `function` that have one."""
    flow = instructions(function)
    if earlier is not None and earlier.value.is_valid_after(earlier.change, flow):
        before = earlier.value
        return PointerProvenance(before.of_registers, before.indices, before.in_variables, flow)
    sources = waking(function, _SOURCES)
    if is_awake(function, _LOADED) and function.is_kernel and _has_pointer_parameter(function):
        sources = sources + waking(function, _LOADED)
    if not sources:
        return PointerProvenance({}, _NOWHERE, _NOWHERE, flow)
    found = _Tracing(function).run(set(sources))
    if earlier is None:
        return found
    before = earlier.value.of_registers
    for register, origin in found.of_registers.items():
        if before.get(register) == origin:
            found.of_registers[register] = before[register]
    if found.of_registers == before:
        found.of_registers = before
    return found


class _Accesses(NamedTuple):
    """The accesses that were found, and their provenance."""

    found: InstructionResults[PointerAccess]
    provenance: PointerProvenance


_NO_ACCESSES: Final = InstructionResults[PointerAccess]((), ())


@incremental_fact
def _accesses(function: Function, earlier: Previous[_Accesses] | None) -> _Accesses:
    provenance = pointer_provenance(function)
    kept, first, end = _NO_ACCESSES, 0, len(function.body.instructions)
    changed = provenance.indices
    if earlier is not None:
        kept = earlier.value.found.spliced(earlier.change, _NO_ACCESSES)
        first, _, end = earlier.change
        changed = _changed(instructions(function), earlier.value.provenance, provenance)
    found: dict[int, tuple[PointerAccess, ...]] = {}
    if provenance.indices or changed:
        flow, body, origins = instructions(function), function.body, provenance.of_registers
        kinds, all_uses = flow.kinds, flow.uses
        for number in waking(function, _MEMORY):
            uses = all_uses[number]
            if first <= number < end or not changed.isdisjoint(uses):
                if provenance.in_variables.isdisjoint(uses) and names_space(kinds[number].shape.spelling):
                    if earlier is not None:
                        found[number] = ()
                else:
                    found[number] = _accesses_of(body.instructions[number], body.symbols, origins)
    return _Accesses(kept.replaced(found), provenance)


def pointer_accesses(function: Function) -> InstructionResults[PointerAccess]:
    """Accesses through registers with provenance, except those that name a state space and whose variable is
    unknown: their provenance says nothing more.
    """
    return _accesses(function).found if is_awake(function, _MEMORY) else _NO_ACCESSES


@lru_cache(maxsize=4096)
def names_space(spelling: str) -> bool:
    """Whether an instruction names the state space of its address."""
    return "::" in spelling or not _NAMED.isdisjoint(spelling.split("."))


def _changed(
    flow: FunctionInstructions, earlier: PointerProvenance, now: PointerProvenance
) -> frozenset[int]:
    """The indices of the registers whose provenance has changed."""
    before, known = earlier.of_registers, now.of_registers
    if before is known:
        return _NOWHERE
    registers = [one for one in before.keys() | known.keys() if before.get(one) is not known.get(one)]
    indices = [flow.index_of(one) for one in registers]
    return frozenset([index for index in indices if index is not None])


def accesses_at(function: Function, number: int) -> tuple[PointerAccess, ...]:
    """The accesses of an instruction at addresses with provenance."""
    known = pointer_provenance(function).of_registers
    return _accesses_of(function.body.instructions[number], function.body.symbols, known)


def _accesses_of(
    node: nodes.Instruction, symbols: Mapping[int, Symbol], known: dict[Register, Provenance]
) -> tuple[PointerAccess, ...]:
    found: list[PointerAccess] = []
    for operand in node.operands:
        if type(operand) is nodes.Address and operand.items:
            address = operand.items[0]
            name = address.left if type(address) is nodes.Binary else address
            symbol = symbols.get(name.start) if type(name) is nodes.Name else None
            origin = known.get(symbol) if type(symbol) is Register else None
            if type(address) is nodes.Binary:
                origin = _with_offset(origin, address)
            if origin is not None:
                found.append(PointerAccess(node, address, origin, size_bytes(node.opcode.text)))
    return tuple(found)


class _Tracing:
    """Follows provenance through the instructions in text order, so that the operands of each are known."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.symbols = function.symbols
        self.known: dict[Register, Provenance] = {}

    def run(self, sources: set[int]) -> PointerProvenance:
        function, flow = self.function, instructions(self.function)
        body = function.body.instructions
        only = definitions(function).only
        given = frozenset(one for one in function.body.parameters if isinstance(one, Register))
        indices: set[int] = set()
        all_uses, all_defs, kinds = flow.uses, flow.defs, flow.kinds
        for number in waking(function, _PRESERVING):
            if indices.isdisjoint(all_uses[number]) and number not in sources:
                continue
            defs = all_defs[number]
            if len(defs) != 1 or only[defs[0]] != number:
                continue
            register = flow.register(defs[0])
            if register in given:
                continue
            origin = self.provenance_of(body[number], kinds[number].opcode)
            if origin is not None:
                self.known[register] = origin
                indices.add(defs[0])
        named = [index for index in indices if self.known[flow.register(index)].variable is not None]
        return PointerProvenance(self.known, frozenset(indices), frozenset(named), flow)

    def provenance_of(self, writer: nodes.Instruction, opcode: str) -> Provenance | None:
        """The provenance that an instruction gives its result."""
        operands = writer.operands
        if len(operands) == 2:
            if opcode == "mov":
                return self.at(operands[1])
            if opcode == "cvta":
                return self.converted(writer)
            if opcode == "ld":
                return self.loaded(writer)
        elif len(operands) == 3 and opcode in ("add", "sub"):
            return self.added(writer, 1 if opcode == "add" else -1)
        return None

    def at(self, value: nodes.Expression) -> Provenance | None:
        """The provenance of a register or variable with an offset."""
        if type(value) is nodes.Name:
            symbol = self.symbols.get(value.start)
            if type(symbol) is Register:
                return self.known.get(symbol)
            symbol = symbol or self.function.resolve(value)
            if type(symbol) is Variable and symbol.space.removeprefix(".") in _SPACES:
                return Provenance(symbol.space, symbol, 0, False)
        elif type(value) is nodes.Binary and type(value.left) is nodes.Name:
            return _with_offset(self.at(value.left), value)
        return None

    def converted(self, step: nodes.Instruction) -> Provenance | None:
        words = step.opcode.text.split(".")
        space = next((f".{word}" for word in words if word in _SPACES), None)
        if space is None:
            return None
        is_generic = "to" not in words
        before = self.at(step.operands[1])
        if before is None or before.space != space:
            return Provenance(space, None, 0, is_generic)
        return Provenance(before.space, before.variable, before.offset, is_generic)

    def added(self, step: nodes.Instruction, sign: int) -> Provenance | None:
        _, left, right = step.operands
        first, second = self.at(left), self.at(right)
        if first is not None and second is None:
            value = _integer(right)
            return first.offset_by(sign * value if value is not None else None)
        if second is not None and first is None and sign > 0:
            return second.offset_by(_integer(left))
        return None

    def loaded(self, step: nodes.Instruction) -> Provenance | None:
        if not step.opcode.text.startswith("ld.param.") or not self.function.is_kernel:
            return None
        match step.operands[1]:
            case nodes.Address(items=(nodes.Name() as name,)):
                symbol = self.function.resolve(name)
            case _:
                return None
        if not isinstance(symbol, Variable) or not symbol.is_parameter:
            return None
        words = [word.text for word in symbol.declaration.modifiers]
        if ".ptr" not in words:
            return None
        space = next((word for word in words if word.removeprefix(".") in _SPACES), None)
        return Provenance(space, None, 0, True) if space is not None else None


def _with_offset(origin: Provenance | None, address: nodes.Binary) -> Provenance | None:
    """The provenance of `[register + offset]`."""
    if origin is None or address.operator not in ("+", "-"):
        return None
    offset = _integer(address.right)
    if offset is None:
        return None
    return origin.offset_by(offset if address.operator == "+" else -offset)


def _integer(value: nodes.Expression) -> int | None:
    if type(value) is nodes.Unary and value.operator == "-":
        number = _integer(value.value) if type(value.value) is nodes.Number else None
        return -number if number is not None else None
    return integer(value.text) if type(value) is nodes.Number and value.kind == "integer" else None
