"""Register completion, ranked by how well the type matches."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from itertools import chain
from typing import Final

from ptx_lsp.facts import grouped_fact
from ptx_lsp.ide.completion.suggestion import Suggestion, plain
from ptx_lsp.ide.cursor.cursor_context import statement_before
from ptx_lsp.ide.cursor.operand_place import Wanted, depths
from ptx_lsp.ide.cursor.partial_statement import PartialStatement
from ptx_lsp.ide.cursor.scope_at import ranges, visible
from ptx_lsp.isa.matching.mismatch import mismatch
from ptx_lsp.isa.matching.pointer import narrow_pointer
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import range_index
from ptx_lsp.model.symbols import Declared, Register, Variable
from ptx_lsp.syntax import nodes

UNFIT: Final = 60
"""The rank of registers that do not match, and are not offered."""
_NEAR: Final = UNFIT // 2 - 1
"""Added to the rank of registers that match in all but width, or in untyped bits."""
MOST: Final = 300
_RECENT = 24
"""The number of preceding instructions whose registers come first."""


def registers(
    typing: PartialStatement, function: Function, places: tuple[Wanted, ...]
) -> list[Suggestion]:
    """Registers by how well their type matches, those of recent instructions first."""
    offset = typing.span.start
    recent = _recent(function, typing.start)
    ranks: dict[str, int] = {}
    rows: list[tuple[int, int, str, str]] = []
    for symbol in visible(function, offset, typing.word):
        if type(symbol) is Register and not _is_all_of_range(symbol):
            if symbol.type not in ranks:
                ranks[symbol.type] = _register_rank(typing, places, symbol.type)
            if ranks[symbol.type] >= UNFIT:
                continue
            name = symbol.name
            rank = ranks[symbol.type] + recent.get(name, _RECENT + 1)
            rows.append((rank, len(name), name, symbol.type))
    found = [
        plain(name, "register", f".reg {type}", rank)
        for rank, _, name, type in nsmallest(MOST, rows)
    ]
    return found + list(_fresh(typing, function, places, {row[2] for row in rows}))


def _fresh(
    typing: PartialStatement, function: Function, places: tuple[Wanted, ...], known: set[str]
) -> Iterator[Suggestion]:
    """Of each range the first register that nothing uses, and the range's others that go on with what
    was typed.
    """
    for symbol, count in ranges(function, typing.span.start):
        if not isinstance(symbol, Register):
            continue
        base = symbol.name
        rank = _register_rank(typing, places, symbol.type)
        if rank >= UNFIT:
            continue
        rank += _RECENT + 2
        number = _first_unused(function, base, count)
        names = [f"{base}{number}"] if number is not None else []
        digits = typing.word[len(base) :]
        if typing.word.startswith(base) and digits.isdigit():
            names += [f"{base}{digits}{more}" for more in ("", *"0123456789")]
        for name in dict.fromkeys(names):
            if name not in known and name.startswith(typing.word) and range_index(name, base) < count:
                detail = f".reg {symbol.type}{' (unused)' if name == names[0] else ''}"
                yield plain(name, "register", detail, rank)


def _first_unused(function: Function, base: str, count: int) -> int | None:
    """The number after the largest used one; None in very long functions."""
    if len(function.body.instructions) > _LONG:
        return None
    used = (index for name, index in _of_ranges(function).groups if name == base and index < count)
    number = max(used, default=0) + 1
    return number if number < count else None


_LONG = 100_000
"""Instructions."""


@grouped_fact
def _of_ranges(function: Function, number: int) -> Iterator[tuple[tuple[str, int], None]]:
    """The names of ranges and which registers of them are used."""
    node = function.body.instructions[number]
    guard = (node.guard.predicate,) if node.guard is not None else ()
    for name in chain.from_iterable(map(names_in, (*guard, *node.operands))):
        symbol = function.body.symbols.get(name.start)
        if isinstance(symbol, Register) and symbol.declarator.range is not None:
            base = symbol.declarator.name.text
            yield (base, range_index(name.text, base)), None


def _is_all_of_range(symbol: Declared) -> bool:
    return (
        isinstance(symbol, Register | Variable)
        and symbol.declarator.range is not None
        and symbol.declarator.name.text == symbol.name
    )


def _recent(function: Function, offset: int) -> dict[str, int]:
    """The names in the last instructions before `offset`, the later the smaller."""
    found: dict[str, int] = {}
    for distance in range(_RECENT):
        statement = statement_before(function, offset - 1)
        if statement is None:
            break
        offset = function.item.offset(statement.start)
        if isinstance(statement, nodes.Instruction):
            for operand in statement.operands:
                for name in names_in(operand):
                    found.setdefault(name.text, distance)
    return found


def _register_rank(typing: PartialStatement, places: tuple[Wanted, ...], type: str) -> int:
    """For an address in brackets, registers of the file's address size fit best."""
    rank = rank_of(places, Argument("register", type), typing.module.address_size)
    row = TYPES.get(type)
    if not rank and places and row is not None:
        is_element = any(depth.bracket == "{" for depth in depths(typing)[1])
        rank = 0 if any(_is_of(one, row, is_element) for one in places) else _NEAR
    spaces = [one.operand.space for one in places if "address" in one.operand.kinds]
    if spaces and row is not None and not any("shared" in str(space) for space in spaces):
        rank += _NEAR if row.width != typing.module.address_size else 0
    return rank


def _is_of(one: Wanted, row: Type, is_element: bool) -> bool:
    """Whether a matching register has exactly the required width, and is a float if one is required.
    Registers that together form a wider operand are narrower.
    """
    names = one.operand.type.split("|") if isinstance(one.operand.type, str) else ()
    types = [TYPES[name] for name in names if name in TYPES]
    if not types or "address" in one.operand.kinds:
        return True
    if is_element and not one.operand.elements:
        return row.width < types[0].width
    return any(
        row.width == max(type.width, _NARROWEST) and (row.kind is Kind.FLOAT) == (type.kind is Kind.FLOAT)
        for type in types
    )


_NARROWEST = 16
"""The minimum register width in bits; ptxas supports no narrower ones."""


def rank_of(places: tuple[Wanted, ...], given: Argument, address_size: int) -> int:
    """0 for a match, more otherwise."""
    if not places:
        return 0
    return 0 if any(_fits(one, given, address_size) for one in places) else UNFIT


def _fits(one: Wanted, given: Argument, address_size: int) -> bool:
    operand = one.operand._replace(elements=0, lengths=()) if one.is_element else one.operand
    if "address" in operand.kinds and given.kind in ("register", "variable"):
        given = Argument("address", parts=(given,))
    if address_size == 64 and narrow_pointer(operand, given):
        return False
    return not mismatch(operand, given)
