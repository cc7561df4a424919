"""The registers and memory that a step reads and writes, from its row of the instruction table; for
observers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.instructions.access import Load
from ptx_lsp.executor.instructions.compute import Compute
from ptx_lsp.executor.machine.control import Provenance, Step
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import AccessMode
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.model.body import names_in
from ptx_lsp.model.directives.pragmas import used_bytes
from ptx_lsp.model.directives.source_line import SourceLine, source_line
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

EVERY_BYTE = -1


class Named(NamedTuple):
    """A register: its number in the frame, and as the text names it."""

    number: int
    name: str


class Moved(NamedTuple):
    """The elements that a `mov` reads and writes, of equal size each, from the lowest bits on. None for those
    that are not registers.
    """

    width: int
    """The bits of all elements together."""
    sources: tuple[Named | None, ...]
    results: tuple[Named | None, ...]
    packs: bool
    """Whether the source is written as several elements."""


@dataclass(frozen=True, eq=False)
class Usage:
    """A step. `operands` are the registers of each operand in order; `guard` is among the `reads`.

    `accumulators` are read where the predicate `accumulates` is true (`scale-d` of `wgmma`), and not among
    the `reads`. `base` is the register that the address begins with, `variable` the variable; both None where
    there are several addresses.
    """

    opcode: str
    modifiers: frozenset[str] = frozenset()
    match: Match | None = None
    reads: tuple[Named, ...] = ()
    writes: tuple[Named, ...] = ()
    operands: tuple[tuple[Named, ...], ...] = ()
    guard: Named | None = None
    base: Named | None = None
    variable: Variable | None = None
    source: SourceLine | None = None
    accumulators: tuple[Named, ...] = ()
    accumulates: Named | None = None
    used_bytes: int = EVERY_BYTE
    """A bit for each byte that a load reads: whether the value is used (`used_bytes_mask`)."""
    moved: Moved | None = None


@dataclass
class Usages:
    """The usages of steps, worked out when they are first asked for."""

    known: dict[int, tuple[Step, Usage]] = field(default_factory=dict[int, tuple[Step, Usage]])

    def of(self, step: Step) -> Usage:
        known = self.known.get(id(step))
        if known is None:
            known = self.known[id(step)] = step, usage(step)  # the step is kept, and with it its identity
        return known[1]


def usage(step: Step) -> Usage:
    """The usage of a step. If its form is unknown, all registers are read and none is written."""
    provenance = step.source
    if provenance is None:
        return Usage("ret")
    node, function = provenance.node, provenance.function
    opcode, *modifiers = node.opcode.text.split(".")
    match = resolve(node.opcode.text).match(arguments(function, node))
    source = source_line(function, node)
    guard = tuple(_registers(node.guard.predicate, provenance)) if node.guard is not None else ()
    if not provenance.is_plain and isinstance(step.action, Compute | Load):  # passes an argument or a result
        numbers = step.action.destinations
        written = tuple(Named(number, "a parameter") for number in numbers if number is not None)
        return Usage("mov", writes=written, source=source)
    reads: list[Named] = []
    writes: list[Named] = []
    operands: list[tuple[Named, ...]] = []
    addresses = sum(isinstance(one, nodes.Address) for one in node.operands)
    base: Named | None = None
    variable: Variable | None = None
    scale = _scale_d(node, match)
    for at, operand in enumerate(node.operands):
        found: list[Named] = []
        for part, access in _parts(operand, match, at):
            here = list(_registers(part, provenance))
            found += here
            if access == "read" or (access == "both" and scale is None):
                reads += here
            if access in ("write", "both"):
                writes += here
        operands.append(tuple(found))
        if isinstance(operand, nodes.Address) and addresses == 1:
            base = next(iter(_registers(operand.items[0], provenance)), None) if operand.items else None
            variable = provenance.operands.variable(operand)
    accumulates = next(iter(_registers(scale, provenance)), None) if scale is not None else None
    return Usage(
        opcode, frozenset(f".{one}" for one in modifiers), match, (*guard, *reads), tuple(writes),
        tuple(operands), guard[0] if guard else None, base, variable, source,
        operands[0] if accumulates else (), accumulates, used_bytes(function).get(node.start, EVERY_BYTE),
        _moved(node, provenance) if opcode == "mov" else None,
    )


def _scale_d(node: nodes.Instruction, match: Match | None) -> nodes.Expression | None:
    """The operand of a `wgmma` that says whether it reads its accumulator; None if it always does."""
    places = match.places if match is not None else ()
    for (place, _), operand in zip(places, node.operands, strict=False):
        if place.name == "scale-d":
            return None if constant(operand) else operand
    return None


def _moved(node: nodes.Instruction, provenance: Provenance) -> Moved | None:
    type = TYPES.get(f".{node.opcode.text.rpartition('.')[2]}")
    if type is None or type.kind is Kind.PREDICATE or ".v" in node.opcode.text or len(node.operands) != 2:
        return None
    result, source = node.operands
    return Moved(
        type.width, _elements(source, provenance), _elements(result, provenance),
        isinstance(source, nodes.Vector),
    )


def _elements(operand: nodes.Expression, provenance: Provenance) -> tuple[Named | None, ...]:
    """The elements of an operand of `mov`; a register of 128 bits counts as two."""
    found: list[Named | None] = []
    for item in operand.items if isinstance(operand, nodes.Vector) else (operand,):
        found += list(_registers(item, provenance)) or [None]
    return tuple(found)


def operand_types(match: Match) -> tuple[Type | str, ...]:
    """The table's requirement for each operand, as text."""
    return tuple(str(wanted.type) for _, wanted in match.places)


def _parts(
    operand: nodes.Expression, match: Match | None, at: int
) -> Iterator[tuple[nodes.Expression, AccessMode]]:
    """The parts of an operand, with what happens to each."""
    if match is None or at >= len(match.places):
        yield operand, "read"
        return
    place, wanted = match.places[at]
    if isinstance(operand, nodes.Address):
        yield operand, "read"
    elif isinstance(operand, nodes.Pair):
        yield operand.left, wanted.access
        yield operand.right, "write" if wanted.access == "write" or place.pair else wanted.access
    elif isinstance(operand, nodes.Vector) and place.parts:
        for index, item in enumerate(operand.items):
            part = place.parts[index] if index < len(place.parts) else place
            yield item, match.candidate.operand(part).access
    else:
        yield operand, wanted.access


def _registers(operand: nodes.Expression, provenance: Provenance) -> Iterator[Named]:
    """The registers that an operand names; a component of a vector as itself."""
    if isinstance(operand, nodes.Member) or (
        isinstance(operand, nodes.Name)
        and isinstance(provenance.function.resolve(operand), Register)
    ):
        decoded = len(provenance.operands.frame)
        try:
            numbers = provenance.operands.numbers(operand)
        except ExecutionError:
            numbers = ()
        for element, number in enumerate(numbers):
            if number is not None and number < decoded:  # else no step that can be executed names it
                yield Named(number, _text(operand) + _component(operand, provenance, element))
        return
    if isinstance(operand, nodes.Vector | nodes.Address | nodes.Group):
        for item in operand.items:
            yield from _registers(item, provenance)
    elif isinstance(operand, nodes.Pair):
        yield from _registers(operand.left, provenance)
        yield from _registers(operand.right, provenance)
    elif isinstance(operand, nodes.Unary | nodes.Cast):
        yield from _registers(operand.value, provenance)
    elif isinstance(operand, nodes.Binary):
        yield from _registers(operand.left, provenance)
        yield from _registers(operand.right, provenance)
    else:
        for name in names_in(operand):
            if not isinstance(operand, nodes.Name):
                yield from _registers(name, provenance)


def _component(operand: nodes.Name | nodes.Member, provenance: Provenance, element: int) -> str:
    """How an element of a vector is named behind the vector."""
    symbol = provenance.function.resolve(operand) if isinstance(operand, nodes.Name) else None
    is_vector = isinstance(symbol, Register) and 1 < symbol.vector <= len(_COMPONENTS)
    return f".{_COMPONENTS[element]}" if is_vector else ""


_COMPONENTS = "xyzw"


def _text(operand: nodes.Name | nodes.Member) -> str:
    if isinstance(operand, nodes.Name):
        return operand.text
    inner = operand.object.text if isinstance(operand.object, nodes.Name) else ""
    return inner + "".join(one.text for one in operand.components)
