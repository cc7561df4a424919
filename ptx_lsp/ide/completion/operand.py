"""Operand completion: names that match the table's requirements come first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ptx_lsp.ide.completion.register import MOST, UNFIT, rank_of, registers
from ptx_lsp.ide.completion.suggestion import Sort, Suggestion, escaped, plain
from ptx_lsp.ide.cursor.operand_place import Wanted, depths, is_beyond, is_known, wanted
from ptx_lsp.ide.cursor.partial_statement import PartialStatement
from ptx_lsp.ide.cursor.scope_at import scope_at, visible
from ptx_lsp.isa import special_registers
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.special_registers import SpecialRegister
from ptx_lsp.isa.target import satisfies
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.debug_labels import debug_labels
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import (
    FunctionName,
    Prototype,
    Register,
    TargetTable,
    Variable,
    element_type,
)
from ptx_lsp.syntax import nodes

WARP_SZ = plain("WARP_SZ", "constant", "32, the number of threads in a warp")

_SORTS: dict[str, Sort] = {
    "register": "register", "variable": "variable", "parameter": "parameter", "label": "label",
    "call prototype": "call prototype", "list of targets": "list of targets", "kernel": "kernel",
    "function": "function",
}


def operands(typing: PartialStatement) -> list[Suggestion]:
    """The operands allowed at the cursor in an instruction of a function."""
    function = typing.function
    if function is None:
        return []
    if _OPERATORS.intersection(typing.operand_tokens[-1:]):
        return _constants(typing)
    opcode = typing.spelling.partition(".")[0]
    if opcode == "bra":
        return list(labels(function, typing.span.start))
    if opcode == "brx":
        index, _ = depths(typing)
        return _named(typing, function, TargetTable) if index else registers(typing, function, ())
    if opcode == "call":
        return _call(typing, function)
    if is_beyond(typing):
        return []
    places = wanted(typing)
    if not places and is_known(typing.spelling):
        return []
    found = registers(typing, function, places)
    found += _variables(typing, function, places)
    if not places or any("special" in one.operand.kinds for one in places):
        found += [
            one for one in special_register_suggestions(typing)
            if not rank_of(places, _special(one.label), typing.module.address_size)
        ]
    if _takes_integer(places):
        found.append(WARP_SZ._replace(rank=UNFIT))
    if any("function" in one.operand.kinds for one in places):
        found += function_names(typing)
    return found


_OPERATORS = frozenset((
    "+", "-", "*", "/", "%", "<<", ">>", "&", "^", "~", "?", "&&", "||", "==", "!=", "<", ">", "<=", ">=",
))


def _constants(typing: PartialStatement) -> list[Suggestion]:
    """Constants after an operator. No name except `WARP_SZ` is allowed there, and not even that after `NAME
    -`. After a register, a constant is allowed only as the offset of an address.
    """
    before, operator = ("", *typing.operand_tokens)[-2:]
    _, inner = depths(typing)
    is_name = re.match(r"[A-Za-z_$%]", before) is not None and before != WARP_SZ.label
    if is_name and (operator != "+" or (before.startswith("%") and not inner)):
        return []
    places = wanted(typing)
    is_offset = bool(inner) and any("address" in one.operand.kinds for one in places)
    return [WARP_SZ] if is_offset or _takes_integer(places) else []


def _takes_integer(places: tuple[Wanted, ...]) -> bool:
    return bool(places) and not rank_of(places, Argument("integer", value=32), 64)


def predicates(typing: PartialStatement) -> list[Suggestion]:
    """The registers that can guard an instruction."""
    function = typing.function
    if function is None:
        return []
    found = registers(typing, function, ())
    return [one for one in found if one.detail.startswith(".reg .pred")]


def labels(function: Function, offset: int) -> Iterator[Suggestion]:
    """The labels of a function, the nearest first. Those of debug information are not for branches."""
    line_of = function.module.document.source.line_of
    debug = debug_labels(function)
    for label in function.body.labels:
        if label.name in debug:
            continue
        start = function.item.offset(label.place.start)
        line = line_of(start) + 1
        distance = abs(start - offset)
        rank = min(UNFIT - 1, distance.bit_length())
        yield plain(label.name, "label", f"line {line}", rank)


def function_names(typing: PartialStatement) -> list[Suggestion]:
    """The callable functions, by name only."""
    return [one._replace(text=one.label, is_snippet=False) for one in functions(typing)]


def functions(
    typing: PartialStatement, with_returns: bool = True, with_arguments: bool = True
) -> list[Suggestion]:
    """The callable functions, with placeholders for results and arguments."""
    found: dict[str, Suggestion] = {}
    for function in typing.module.functions:
        symbol = function.symbol
        if symbol.is_kernel or not symbol.name or symbol.name in found:
            continue
        if function.item.start <= typing.span.start:
            found[symbol.name] = _function(symbol, with_returns, with_arguments)
    return list(found.values())


def _function(symbol: FunctionName, with_returns: bool, with_arguments: bool) -> Suggestion:
    node = symbol.node
    text, number = escaped(symbol.name), 1
    returns = _names(node.returns)
    if returns and with_returns:
        places = ", ".join(f"${{{at}:{escaped(name)}}}" for at, name in enumerate(returns, 1))
        text, number = f"({places}), {text}", len(returns) + 1
    parameters = _names(node.parameters)
    if parameters and with_arguments:
        places = ", ".join(
            f"${{{at}:{escaped(name)}}}" for at, name in enumerate(parameters, number)
        )
        text += f", ({places})"
    signature = f"({', '.join(returns)}) " if returns else ""
    signature += f"{symbol.name} ({', '.join(parameters)})"
    key = f"function {symbol.name}"
    return Suggestion(symbol.name, "function", text, signature, 0, is_snippet=True, key=key)


def _names(declarations: tuple[nodes.Declaration, ...] | None) -> list[str]:
    return [one.name.text for node in declarations or () for one in node.declarators]


def _call(typing: PartialStatement, function: Function) -> list[Suggestion]:
    """Of `call (returns), function, (arguments), prototype`."""
    index, inner = depths(typing)
    rest = typing.operand_tokens
    has_returns = rest[:1] == ("(",)
    if inner:
        return registers(typing, function, ()) + _variables(typing, function, ())
    if index == (1 if has_returns else 0):
        are_there = typing.next_token[:1] in (",", "(")
        found = functions(typing, with_returns=not has_returns, with_arguments=not are_there)
        return found + registers(typing, function, ())
    return _named(typing, function, Prototype) + _named(typing, function, TargetTable)


def _named(
    typing: PartialStatement, function: Function, kind: type[Prototype] | type[TargetTable]
) -> list[Suggestion]:
    found = visible(function, typing.span.start, typing.word)
    return [plain(one.name, _SORTS[one.kind], one.kind) for one in found if isinstance(one, kind)]


# -- memory ---------------------------------------------------------------------------------------


def _variables(
    typing: PartialStatement, function: Function, places: tuple[Wanted, ...]
) -> list[Suggestion]:
    """Variables and parameters: of the function, then of the file."""
    scope = scope_at(function, typing.span.start)
    found = [
        _variable(symbol, places, typing.module.address_size, 0)
        for symbol in (*function.body.returns, *function.body.parameters, *function.body.variables)
        if isinstance(symbol, Variable) and symbol.name.startswith(typing.word)
        and function.item.offset(symbol.place.start) < typing.span.start
        and not _is_wrong_way(symbol, function, places)
        and scope.find(symbol.name) is symbol
    ]
    for symbol in typing.module.variables:
        if (
            isinstance(symbol, Variable) and symbol.name.startswith(typing.word)
            and typing.module.span(symbol.place).start < typing.span.start
        ):
            found.append(_variable(symbol, places, typing.module.address_size, 1))
            if len(found) >= MOST:
                break
    return [one for one in found if one.rank < UNFIT]


def _is_wrong_way(symbol: Variable, function: Function, places: tuple[Wanted, ...]) -> bool:
    """Whether the access writes memory filled by the caller, reads memory that the caller reads, or takes the
    address of a parameter of a call, which has none.
    """
    if symbol in function.body.variables and symbol.space == ".param":
        return not any("address" in one.operand.kinds for one in places)
    access = {one.operand.access for one in places if "address" in one.operand.kinds}
    return (access == {"write"} and symbol in function.body.parameters) or (
        access == {"read"} and symbol in function.body.returns
    )


def _variable(
    symbol: Variable, places: tuple[Wanted, ...], address_size: int, rank: int
) -> Suggestion:
    given = Argument("variable", symbol.type, symbol.space)
    kinds = {kind for one in places for kind in one.operand.kinds}
    fits = not places or (
        bool(kinds & {"variable", "address"}) and not rank_of(places, given, address_size)
    )
    type = element_type(symbol.declaration)
    return plain(
        symbol.name, _SORTS[symbol.kind], f"{symbol.space} {type}".strip(), rank + (0 if fits else UNFIT)
    )


# -- special registers ----------------------------------------------------------------------------


def special_register_suggestions(typing: PartialStatement) -> list[Suggestion]:
    """The special registers; for vectors, also their components."""
    if typing.word and not typing.word.startswith("%"):
        return []
    return [
        Suggestion(
            name, "special register", name, row.summary,
            40 if _is_met(typing.module, row) else 140,
            is_supported=_is_met(typing.module, row), key=f"special {row.name}",
        )
        for name, row in _special_names()
    ]


def _special(name: str) -> Argument:
    """A special register, or a component of one, as an operand."""
    row = special_registers.find(name.removesuffix(".x").removesuffix(".y").removesuffix(".z"))
    return Argument("special", "|".join(row.reads)) if row is not None else Argument("unknown")


@cache
def _special_names() -> tuple[tuple[str, SpecialRegister], ...]:
    found: list[tuple[str, SpecialRegister]] = []
    for pattern, row in special_registers.rows():
        name = re.sub(r"\[(\d).*?\]|\(.*\)", lambda hit: hit[1] or "0", pattern)
        if row.vector > 1:
            found += [(f"{name}{component}", row) for component in (".x", ".y", ".z")]
        else:
            found.append((name, row))
    return tuple(found)


def _is_met(module: Module, row: SpecialRegister) -> bool:
    version, target = module.version, module.target
    return version is None or target is None or satisfies(row.requirement, version, target)


def components(typing: PartialStatement) -> list[Suggestion]:
    """The components that may follow the name before the cursor: of `%tid.` or of a vector."""
    name = typing.words[-1] if typing.words else ""
    row = special_registers.find(name)
    if row is not None:
        return [plain(one, "component") for one in (".x", ".y", ".z", ".w") if row.vector > 1]
    if typing.function is None:
        return []
    symbol = next(
        (one for one in visible(typing.function, typing.span.start, name) if one.name == name), None
    )
    if isinstance(symbol, Register) and symbol.vector > 1:
        return [plain(one, "component") for one in (".x", ".y", ".z", ".w")[: symbol.vector]]
    return [
        plain(suffix, "component")
        for suffix in dict.fromkeys(
            suffix for one in wanted(typing._replace(words=typing.words[:-1]))
            for suffix in one.place.suffixes
        )
    ][:40]


