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

from collections.abc import Iterator
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from analyses.instructions.uses_and_defs import instructions
from ptx_lsp.facts import (
    GroupedResults,
    InstructionResults,
    Previous,
    grouped_fact,
    incremental_fact,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.access import size_bytes
from ptx_lsp.model.instructions.features import ADDRESS
from ptx_lsp.model.instructions.wakes import InstructionWake, is_awake
from ptx_lsp.model.instructions.woken_facts import flattened, sparse_instruction_fact
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

_SPACES = ("global", "shared", "local", "const")
_PRESERVING = frozenset({"mov", "cvta", "add", "sub", "ld"})
"""Opcodes of instructions whose results may have provenance."""
_MEMORY = InstructionWake(opcodes=("ld", "ldu", "st", "atom", "red"), features=ADDRESS)


class Provenance(NamedTuple):
    """`space` includes its dot. `offset` is in bytes, from the start of `variable` or from an unknown
    address; None if a register has been added. `is_generic`: the address is generic.
    """

    space: str
    variable: Variable | None
    offset: int | None
    is_generic: bool

    def offset_by(self, by: int | None) -> Provenance:
        if by is None or self.offset is None:
            return self._replace(offset=None)
        return self._replace(offset=self.offset + by)


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

    __slots__ = ("of_registers", "writers")

    def __init__(
        self,
        of_registers: dict[Register, Provenance],
        writers: GroupedResults[Register, nodes.Instruction | None],
    ) -> None:
        self.of_registers: Final = of_registers
        self.writers: Final = writers
        """The instructions that write each register."""


@incremental_fact
def pointer_provenance(function: Function, earlier: Previous[PointerProvenance] | None) -> PointerProvenance:
    """The provenance of the registers of `function` that have one."""
    return _Tracing(function, earlier.value.of_registers if earlier else {}).run(earlier)


@sparse_instruction_fact(_MEMORY)
def _addresses(
    function: Function, number: int
) -> Iterator[tuple[Register, nodes.Expression]]:
    """The registers in the addresses of an access to memory, each with its address."""
    node = function.body.instructions[number].node
    for operand in node.operands:
        if isinstance(operand, nodes.Address) and operand.items:
            address = operand.items[0]
            name = address.left if isinstance(address, nodes.Binary) else address
            symbol = function.body.symbols.get(name.start) if isinstance(name, nodes.Name) else None
            if isinstance(symbol, Register):
                yield symbol, address


class _Accesses(NamedTuple):
    """The accesses that were found, and their provenance."""

    found: InstructionResults[PointerAccess]
    provenance: dict[Register, Provenance]


@incremental_fact
def _accesses(function: Function, earlier: Previous[_Accesses] | None) -> _Accesses:
    known, addresses = pointer_provenance(function).of_registers, _addresses(function)
    changed = _changed(earlier.value.provenance if earlier else {}, known)
    if earlier is None:
        kept, first, end = InstructionResults[PointerAccess]((), ()), 0, len(function.body.instructions)
    else:
        kept = earlier.value.found.spliced(earlier.change, InstructionResults((), ()))
        first, _, end = earlier.change
    wanted = addresses.within(first, end) if not changed else addresses
    found = {
        number: _pointer_accesses(function, number, pairs, known)
        for number, pairs in zip(wanted.indices, wanted.results, strict=True)
        if first <= number < end or any(one in changed for one, _ in pairs)
    }
    return _Accesses(kept.replaced(found), known)


def pointer_accesses(function: Function) -> InstructionResults[PointerAccess]:
    """Accesses through registers with provenance."""
    return _accesses(function).found if is_awake(function, _MEMORY) else InstructionResults((), ())


register_accesses = flattened(_MEMORY, pointer_accesses)
"""The register accesses of a function, in order."""


def _changed(before: dict[Register, Provenance], known: dict[Register, Provenance]) -> set[Register]:
    if before is known:
        return set()
    return {one for one in before.keys() | known.keys() if before.get(one) is not known.get(one)}


def _pointer_accesses(
    function: Function,
    number: int,
    addresses: tuple[tuple[Register, nodes.Expression], ...],
    known: dict[Register, Provenance],
) -> tuple[PointerAccess, ...]:
    node = function.body.instructions[number].node
    found: list[PointerAccess] = []
    for register, address in addresses:
        origin = known.get(register)
        if isinstance(address, nodes.Binary):
            origin = _with_offset(origin, address)
        if origin is not None:
            found.append(PointerAccess(node, address, origin, size_bytes(node.opcode.text)))
    return tuple(found)


# -- which steps write what -----------------------------------------------------------------------


@grouped_fact
def _writers(function: Function, number: int) -> Iterator[tuple[Register, nodes.Instruction | None]]:
    """For each register what writes it: None where that gives it no origin."""
    flow = instructions(function)
    step = flow.instructions[number]
    may_keep = len(step.defs) == 1 and not step.partial_defs and step.opcode in _PRESERVING
    for register in step.defs:
        yield flow.registers[register], step.node if may_keep else None


@grouped_fact
def _readers(function: Function, number: int) -> Iterator[tuple[Register, Register]]:
    """For each register, the registers written by its readers that may have its provenance."""
    flow = instructions(function)
    step = flow.instructions[number]
    if len(step.defs) == 1 and not step.partial_defs and step.opcode in _PRESERVING:
        for register in step.uses:
            yield flow.registers[register], flow.registers[step.defs[0]]




# -- origins --------------------------------------------------------------------------------------


class _Tracing:
    def __init__(self, function: Function, before: dict[Register, Provenance]) -> None:
        self.function = function
        self.item = function.item
        self.writers = _writers(function)
        self.readers = _readers(function)
        self.known = dict(before)
        self.given = frozenset(one for one in function.body.parameters if isinstance(one, Register))

    def run(self, earlier: Previous[PointerProvenance] | None) -> PointerProvenance:
        """Evaluates the undecided registers in text order, so that the inputs of each are known."""
        if earlier is None:
            doubtful = set(self.writers.groups)
        else:
            writers = Previous(earlier.value.writers, earlier.change)
            doubtful = self.writers.changed_keys(writers)
        is_same = True
        waiting = [(self.position(one), id(one), one) for one in doubtful]
        heapify(waiting)
        while waiting:
            _, _, register = heappop(waiting)
            before, origin = self.known.get(register), self.provenance_of(register)
            if origin == before:
                continue
            is_same = False
            if origin is None:
                del self.known[register]
            else:
                self.known[register] = origin
            for reader in self.readers.groups.get(register, ()):
                if reader not in doubtful:
                    doubtful.add(reader)
                    heappush(waiting, (self.position(reader), id(reader), reader))
        known = earlier.value.of_registers if earlier and is_same else self.known
        return PointerProvenance(known, self.writers)

    def writer(self, register: Register) -> nodes.Instruction | None:
        """The only instruction that writes a register, if it may give it provenance."""
        found = self.writers.groups.get(register, ())
        return found[0] if len(found) == 1 and register not in self.given else None

    def position(self, register: Register) -> int:
        """The offset in bytes of the definition; before all others if it gives no provenance."""
        writer = self.writer(register)
        return self.item.offset(writer.start) if writer is not None else -1

    def provenance_of(self, register: Register) -> Provenance | None:
        writer = self.writer(register)
        if writer is None:
            return None
        operands = writer.operands
        match writer.opcode.text.partition(".")[0]:
            case "mov" if len(operands) == 2:
                return self.at(operands[1], writer)
            case "cvta" if len(operands) == 2:
                return self.converted(writer)
            case "add" if len(operands) == 3:
                return self.added(writer, 1)
            case "sub" if len(operands) == 3:
                return self.added(writer, -1)
            case "ld" if len(operands) == 2:
                return self.loaded(writer)
            case _:
                return None

    def at(self, value: nodes.Expression, step: nodes.Instruction) -> Provenance | None:
        """The provenance of a register or variable with an offset, as `step` sees it."""
        match value:
            case nodes.Name():
                symbol = self.function.resolve(value)
                if isinstance(symbol, Register):
                    known = self.known.get(symbol)
                    is_before = known and self.position(symbol) < self.item.offset(step.start)
                    return known if is_before else None
                if isinstance(symbol, Variable) and symbol.space.removeprefix(".") in _SPACES:
                    return Provenance(symbol.space, symbol, 0, False)
                return None
            case nodes.Binary(left=nodes.Name() as name):
                return _with_offset(self.at(name, step), value)
            case _:
                return None

    def converted(self, step: nodes.Instruction) -> Provenance | None:
        words = step.opcode.text.split(".")
        space = next((f".{word}" for word in words if word in _SPACES), None)
        if space is None:
            return None
        is_generic = "to" not in words
        before = self.at(step.operands[1], step)
        if before is None or before.space != space:
            return Provenance(space, None, 0, is_generic)
        return before._replace(is_generic=is_generic)

    def added(self, step: nodes.Instruction, sign: int) -> Provenance | None:
        _, left, right = step.operands
        first, second = self.at(left, step), self.at(right, step)
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
    offset = _integer(address.right)
    if origin is None or offset is None or address.operator not in ("+", "-"):
        return None
    return origin.offset_by(offset if address.operator == "+" else -offset)


def _integer(value: nodes.Expression) -> int | None:
    match value:
        case nodes.Number(text=text, kind="integer"):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(text=text, kind="integer")):
            number = integer(text)
            return -number if number is not None else None
        case _:
            return None
