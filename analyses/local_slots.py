"""Local variables that could as well be registers.

Compilers without optimisation keep every variable in local memory, on a stack of their own
(`__local_depot`), and ptxas takes most of them into registers again.

1. The address of a local variable is known where it is the variable's name, or a known one with a
   constant added or converted by `cvta`.
2. A slot is a range of bytes that `ld` and `st` read and write at a known address, always the same range
   and not a part of it.
3. Where a known address is used for anything else, what lies from there on may be read and written
   unseen: it holds no slot.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from analyses.steps import Step, Steps, steps
from ptx_lsp.facts import fact
from ptx_lsp.model.access import size_bytes
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer
from ptx_lsp.model.symbols import Variable
from ptx_lsp.syntax import nodes


class Slot(NamedTuple):
    """What an `ld` or `st` reads or writes: `offset` and `bytes` of a variable; `values` are the
    registers that are stored.
    """

    variable: Variable
    offset: int
    bytes: int
    values: tuple[int, ...]

    @property
    def key(self) -> tuple[object, ...]:
        return (id(self.variable), self.offset)


@fact
def local_slots(function: Function) -> dict[int, Slot]:
    """The loads and stores of slots, by the number of their step."""
    if not any(variable.space == ".local" for variable in function.body.variables):
        return {}
    flow = steps(function)
    known = _addresses(function, flow)
    found: dict[int, Slot] = {}
    escaped: dict[int, int] = {}
    for step in flow.steps:
        slot = _slot(function, flow, known, step)
        stored = set(slot.values) if slot is not None else set[int]()
        if slot is not None:
            found[step.number] = slot
        if step.number not in known.sources:
            for register in stored if slot is not None else step.reads:
                if register in known.registers:
                    variable, offset = known.registers[register]
                    escaped[id(variable)] = min(offset, escaped.get(id(variable), offset))
    sizes: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)
    for slot in found.values():
        sizes[id(slot.variable)].add((slot.offset, slot.bytes))
    whole = {key: _apart(ranges) for key, ranges in sizes.items()}
    return {
        number: slot
        for number, slot in found.items()
        if slot.offset in whole[id(slot.variable)]
        and slot.offset + slot.bytes <= escaped.get(id(slot.variable), 1 << 62)
    }


class _Known(NamedTuple):
    """The registers that hold a known address, and the steps that make them."""

    registers: dict[int, tuple[Variable, int]]
    sources: set[int]


def _addresses(function: Function, flow: Steps) -> _Known:
    writers: defaultdict[int, int] = defaultdict(int)
    for step in flow.steps:
        for register in step.writes:
            writers[register] += 1
    registers: dict[int, tuple[Variable, int]] = {}
    sources: set[int] = set()
    for step in flow.steps:
        if len(step.writes) != 1 or step.is_guarded or writers[step.writes[0]] != 1:
            continue
        found = _address_made(function, registers, step)
        if found is not None:
            registers[step.writes[0]] = found
            sources.add(step.number)
    return _Known(registers, sources)


def _address_made(
    function: Function, registers: dict[int, tuple[Variable, int]], step: Step
) -> tuple[Variable, int] | None:
    operands = step.node.operands
    if step.opcode in ("mov", "cvta", "add"):
        if not step.reads:
            name = operands[1] if len(operands) == 2 else None
            symbol = function.resolve(name) if isinstance(name, nodes.Name) else None
            if isinstance(symbol, Variable) and symbol.space == ".local":
                return symbol, 0
            return None
        if len(step.reads) == 1 and step.reads[0] in registers:
            variable, offset = registers[step.reads[0]]
            if step.opcode != "add":
                return variable, offset
            added = _number(operands[-1])
            return None if added is None else (variable, offset + added)
    return None


def _slot(function: Function, flow: Steps, known: _Known, step: Step) -> Slot | None:
    if step.opcode not in ("ld", "st") or ".v" in step.spelling or step.is_guarded:
        return None
    address = next((o for o in step.node.operands if isinstance(o, nodes.Address)), None)
    if address is None or len(address.items) != 1:
        return None
    base, offset = address.items[0], 0
    if isinstance(base, nodes.Binary) and base.operator in "+-":
        added = _number(base.right)
        if added is None:
            return None
        base, offset = base.left, added if base.operator == "+" else -added
    symbol = function.resolve(base) if isinstance(base, nodes.Name) else None
    number = flow.numbers.get(id(symbol))
    if number is not None and number in known.registers:
        variable, start = known.registers[number]
    elif isinstance(symbol, Variable) and symbol.space == ".local":
        variable, start, number = symbol, 0, -1
    else:
        return None
    size = size_bytes(step.spelling)
    if size is None:
        return None
    values = tuple(r for r in step.reads if r != number) if step.opcode == "st" else ()
    return Slot(variable, start + offset, size, values)


def _apart(ranges: set[tuple[int, int]]) -> set[int]:
    """The offsets of those ranges that no other one touches."""
    ordered = sorted(ranges)
    apart: set[int] = set()
    end = -1
    for index, (offset, size) in enumerate(ordered):
        following = ordered[index + 1][0] if index + 1 < len(ordered) else 1 << 62
        if offset >= end and offset + size <= following:
            apart.add(offset)
        end = max(end, offset + size)
    return apart


def _number(value: nodes.Operand) -> int | None:
    return integer(value.text) if isinstance(value, nodes.Number) else None
