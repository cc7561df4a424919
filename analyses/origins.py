"""Where addresses come from: the state space and, where it is known, the variable that a register points to.

1. Only a register that one unguarded step writes, and no other, has an origin.
2. `mov` of a variable's name gives its address in its own state space.
3. `cvta.SPACE` makes of that, or of anything, a generic address into SPACE; `cvta.to.SPACE` the reverse.
4. A parameter of a kernel that is declared with `.ptr .SPACE` holds a generic address into SPACE.
5. `mov`, and `add` or `sub` of a constant, keep the origin at another distance. `add` of a register that
   has no origin itself keeps it at an unknown distance: it is taken to stay within the same variable.
6. A step knows only the origins of registers that are written before it in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from analyses.steps import steps
from ptx_lsp.facts import Earlier, Found, Indexed, indexed, lasting_fact, listed, numbered
from ptx_lsp.model.access import size_bytes
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

_SPACES = ("global", "shared", "local", "const")
_KEEPING = frozenset({"mov", "cvta", "add", "sub", "ld"})
"""Opcodes of steps whose results may have an origin."""
_MEMORY = frozenset({"ld", "ldu", "st", "atom", "red"})


class Origin(NamedTuple):
    """`space` with its dot. `offset` is in bytes, from the start of `variable`, or from an address that is
    not known; None where a register has been added. `is_generic`: the address is a generic one.
    """

    space: str
    variable: Variable | None
    offset: int | None
    is_generic: bool

    def moved(self, by: int | None) -> Origin:
        if by is None or self.offset is None:
            return self._replace(offset=None)
        return self._replace(offset=self.offset + by)


class Access(NamedTuple):
    """A `ld`, `st`, `atom` or `red` at an address with an origin, its own offset counted in.

    `size` is in bytes; None where the table does not tell it.
    """

    node: nodes.Instruction
    address: nodes.Expression
    origin: Origin
    size: int | None


@dataclass(frozen=True)
class Origins:
    """The `known` origins; a register that has the same one after an edit has the same object."""

    known: dict[Register, Origin]
    writers: Indexed[Register, nodes.Instruction | None]
    """What writes each register."""


@lasting_fact
def origins(function: Function, earlier: Earlier[Origins] | None) -> Origins:
    """Of each register that has one."""
    return _Tracing(function, earlier.value.known if earlier else {}).run(earlier)


@numbered
def _addresses(
    function: Function, number: int
) -> Iterator[tuple[Register, nodes.Expression]]:
    """The registers in the addresses of an access to memory, each with its address."""
    node = function.body.instructions[number].node
    if node.opcode.text.partition(".")[0] not in _MEMORY:
        return
    for operand in node.operands:
        if isinstance(operand, nodes.Address) and operand.items:
            address = operand.items[0]
            name = address.left if isinstance(address, nodes.Binary) else address
            symbol = function.body.symbols.get(name.start) if isinstance(name, nodes.Name) else None
            if isinstance(symbol, Register):
                yield symbol, address


class _Accesses(NamedTuple):
    """What was found, and with which origins."""

    found: Found[Access]
    known: dict[Register, Origin]


@lasting_fact
def _accesses(function: Function, earlier: Earlier[_Accesses] | None) -> _Accesses:
    known, addresses = origins(function).known, _addresses(function)
    changed = _changed(earlier.value.known if earlier else {}, known)
    if earlier is None:
        kept, first, end = Found[Access]((), ()), 0, len(function.body.instructions)
    else:
        kept = earlier.value.found.after(earlier.change, Found((), ()))
        first, _, end = earlier.change
    wanted = addresses.between(first, end) if not changed else addresses
    found = {
        number: _at_origins(function, number, pairs, known)
        for number, pairs in zip(wanted.numbers, wanted.of, strict=True)
        if first <= number < end or any(one in changed for one, _ in pairs)
    }
    return _Accesses(kept.but_for(found), known)


def accesses_found(function: Function) -> Found[Access]:
    """Accesses through registers whose origin is known."""
    return _accesses(function).found


register_accesses = listed(accesses_found)
"""Those of a function, in order."""


def _changed(before: dict[Register, Origin], known: dict[Register, Origin]) -> set[Register]:
    if before is known:
        return set()
    return {one for one in before.keys() | known.keys() if before.get(one) is not known.get(one)}


def _at_origins(
    function: Function,
    number: int,
    addresses: tuple[tuple[Register, nodes.Expression], ...],
    known: dict[Register, Origin],
) -> tuple[Access, ...]:
    node = function.body.instructions[number].node
    found: list[Access] = []
    for register, address in addresses:
        origin = known.get(register)
        if isinstance(address, nodes.Binary):
            origin = _moved(origin, address)
        if origin is not None:
            found.append(Access(node, address, origin, size_bytes(node.opcode.text)))
    return tuple(found)


# -- which steps write what -----------------------------------------------------------------------


@indexed
def _writers(function: Function, number: int) -> Iterator[tuple[Register, nodes.Instruction | None]]:
    """For each register what writes it: None where that gives it no origin."""
    flow = steps(function)
    step = flow.steps[number]
    may_keep = len(step.writes) == 1 and not step.keeps and step.opcode in _KEEPING
    for register in step.writes:
        yield flow.registers[register], step.node if may_keep else None


@indexed
def _readers(function: Function, number: int) -> Iterator[tuple[Register, Register]]:
    """For each register those that are written by steps which read it, where these may have its origin."""
    flow = steps(function)
    step = flow.steps[number]
    if len(step.writes) == 1 and not step.keeps and step.opcode in _KEEPING:
        for register in step.reads:
            yield flow.registers[register], flow.registers[step.writes[0]]




# -- origins --------------------------------------------------------------------------------------


class _Tracing:
    def __init__(self, function: Function, before: dict[Register, Origin]) -> None:
        self.function = function
        self.item = function.item
        self.writers = _writers(function)
        self.readers = _readers(function)
        self.known = dict(before)
        self.given = frozenset(one for one in function.body.parameters if isinstance(one, Register))

    def run(self, earlier: Earlier[Origins] | None) -> Origins:
        """Registers in doubt are looked at in the order of the text: what each depends on is known then."""
        if earlier is None:
            doubtful = set(self.writers.of)
        else:
            writers = Earlier(earlier.value.writers, earlier.change)
            doubtful = self.writers.touched(writers)
        is_same = True
        waiting = [(self.position(one), id(one), one) for one in doubtful]
        heapify(waiting)
        while waiting:
            _, _, register = heappop(waiting)
            before, origin = self.known.get(register), self.origin_of(register)
            if origin == before:
                continue
            is_same = False
            if origin is None:
                del self.known[register]
            else:
                self.known[register] = origin
            for reader in self.readers.of.get(register, ()):
                if reader not in doubtful:
                    doubtful.add(reader)
                    heappush(waiting, (self.position(reader), id(reader), reader))
        known = earlier.value.known if earlier and is_same else self.known
        return Origins(known, self.writers)

    def writer(self, register: Register) -> nodes.Instruction | None:
        """The only step that writes a register, if that may give it an origin."""
        found = self.writers.of.get(register, ())
        return found[0] if len(found) == 1 and register not in self.given else None

    def position(self, register: Register) -> int:
        """Where it is written, in bytes; before all else where that gives it no origin."""
        writer = self.writer(register)
        return self.item.offset(writer.start) if writer is not None else -1

    def origin_of(self, register: Register) -> Origin | None:
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

    def at(self, value: nodes.Expression, step: nodes.Instruction) -> Origin | None:
        """The origin of a register or variable with an offset, as `step` knows it."""
        match value:
            case nodes.Name():
                symbol = self.function.resolve(value)
                if isinstance(symbol, Register):
                    known = self.known.get(symbol)
                    is_before = known and self.position(symbol) < self.item.offset(step.start)
                    return known if is_before else None
                if isinstance(symbol, Variable) and symbol.space.removeprefix(".") in _SPACES:
                    return Origin(symbol.space, symbol, 0, False)
                return None
            case nodes.Binary(left=nodes.Name() as name):
                return _moved(self.at(name, step), value)
            case _:
                return None

    def converted(self, step: nodes.Instruction) -> Origin | None:
        words = step.opcode.text.split(".")
        space = next((f".{word}" for word in words if word in _SPACES), None)
        if space is None:
            return None
        is_generic = "to" not in words
        before = self.at(step.operands[1], step)
        if before is None or before.space != space:
            return Origin(space, None, 0, is_generic)
        return before._replace(is_generic=is_generic)

    def added(self, step: nodes.Instruction, sign: int) -> Origin | None:
        _, left, right = step.operands
        first, second = self.at(left, step), self.at(right, step)
        if first is not None and second is None:
            value = _integer(right)
            return first.moved(sign * value if value is not None else None)
        if second is not None and first is None and sign > 0:
            return second.moved(_integer(left))
        return None

    def loaded(self, step: nodes.Instruction) -> Origin | None:
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
        return Origin(space, None, 0, True) if space is not None else None


def _moved(origin: Origin | None, address: nodes.Binary) -> Origin | None:
    """An origin with the offset in an address counted in."""
    offset = _integer(address.right)
    if origin is None or offset is None or address.operator not in ("+", "-"):
        return None
    return origin.moved(offset if address.operator == "+" else -offset)


def _integer(value: nodes.Expression) -> int | None:
    match value:
        case nodes.Number(text=text, kind="integer"):
            return integer(text)
        case nodes.Unary(operator="-", value=nodes.Number(text=text, kind="integer")):
            number = integer(text)
            return -number if number is not None else None
        case _:
            return None
