"""The declarations of a file, as an outline and for searching many files."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.debug_labels import debug_labels
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import FunctionName, Register, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Span

SymbolSort: TypeAlias = Literal[
    "kernel", "function", "variable", "constant", "register", "parameter", "label", "structure", "section",
    "alias", "file",
]


class Outlined(NamedTuple):
    """`span` is the whole declaration, `name_span` the name in it; `inner` are the nested declarations."""

    name: str
    sort: SymbolSort
    detail: str
    span: Span
    name_span: Span
    inner: tuple[Outlined, ...] = ()


class Found(NamedTuple):
    """A name of a file. `within` is the function of a label; empty at file level."""

    name: str
    sort: SymbolSort
    name_span: Span
    within: str = ""


def document_symbols(module: Module) -> tuple[Outlined, ...]:
    """The outline of a file: functions with their parameters, memory and labels, variables, sections."""
    found: list[Outlined] = [_function(module, one) for one in module.functions]
    by_statement: dict[int, list[Variable | Register]] = {}
    for symbol in module.variables:
        by_statement.setdefault(id(symbol.place.owner), []).append(symbol)
    for item in module.document.items:
        span = Span(item.start, item.end)
        match item.node:
            case nodes.Declaration():
                declared = by_statement.get(id(item.node), ())
                found += [_variable(module, symbol, span) for symbol in declared]
            case nodes.Section(name=nodes.Name() as name):
                place = item.span(name)
                found.append(Outlined(f".section {name.text}", "section", "", span, place))
            case nodes.Aggregate(name=nodes.Name() as name):
                place = item.span(name)
                found.append(Outlined(name.text, "structure", item.node.kind.text, span, place))
            case nodes.Alias(name=nodes.Name() as name, aliasee=aliasee):
                of = aliasee.text if isinstance(aliasee, nodes.Name) else ""
                place = item.span(name)
                found.append(Outlined(name.text, "alias", f"alias of {of}", span, place))
            case _:
                pass
    return tuple(sorted(found, key=lambda one: one.span))


def workspace_symbols(module: Module, query: str, most: int = 200) -> tuple[Found, ...]:
    """The functions, variables and labels whose names contain the letters of `query` in this order, ignoring
    case; names that begin with it come first.
    """
    found: list[tuple[int, int, Found]] = []
    for one in _searchable(module):
        rank = match_rank(one.name, query)
        if rank is not None:
            found.append((rank, len(one.name), one))
    found.sort()
    return tuple(one for _, _, one in found[:most])


def match_rank(name: str, query: str) -> int | None:
    """How well a name matches a query; 0 is best, None if it does not."""
    name, query = name.lower(), query.lower()
    if name.startswith(query):
        return 0
    if query in name:
        return 1
    at = 0
    for letter in query:
        at = name.find(letter, at) + 1
        if not at:
            return None
    return 2


def _searchable(module: Module) -> list[Found]:
    found: list[Found] = []
    for function in module.functions:
        sort: SymbolSort = "kernel" if function.is_kernel else "function"
        if function.name:
            found.append(Found(function.name, sort, module.span(function.symbol.place)))
        debug = debug_labels(function)
        found += [
            Found(label.name, "label", module.span(label.place), function.name)
            for label in function.body.labels
            if label.name not in debug
        ]
    found += [Found(one.name, sort_of(one), module.span(one.place)) for one in module.variables]
    return found


def _function(module: Module, function: Function) -> Outlined:
    item, node = function.item, function.node
    place = module.span(function.symbol.place)
    span = Span(item.start, item.end)
    body = function.body
    inner = [_variable(module, one, _of(module, one)) for one in (*body.returns, *body.parameters)]
    inner += [_variable(module, one, _of(module, one)) for one in body.variables]
    debug = debug_labels(function)
    inner += [
        Outlined(label.name, "label", "", module.span(label.place), module.span(label.place))
        for label in body.labels
        if label.name not in debug
    ]
    inner.sort(key=lambda one: one.span)
    linkage = " ".join(word.text for word in node.linkage)
    detail = f"{linkage} {node.kind.text}".strip()
    if node.body is None:
        detail += " (declared only)"
    return Outlined(
        function.name or "(nameless)", "kernel" if function.is_kernel else "function", detail, span,
        place, tuple(inner),
    )


def _of(module: Module, symbol: Variable | Register) -> Span:
    """The range from the name to the end of its declarator."""
    start, end = module.span(symbol.place)
    return Span(start, max(end, start + symbol.declarator.end - symbol.declarator.start))


def _variable(module: Module, symbol: Variable | Register, span: Span) -> Outlined:
    space = symbol.space if isinstance(symbol, Variable) else ".reg"
    return Outlined(
        symbol.name, sort_of(symbol), f"{space} {symbol.type}".strip(), span, module.span(symbol.place)
    )


def sort_of(symbol: Variable | Register | FunctionName) -> SymbolSort:
    """The sort of a declaration."""
    if isinstance(symbol, FunctionName):
        return "kernel" if symbol.is_kernel else "function"
    if symbol.is_parameter:
        return "parameter"
    if isinstance(symbol, Register):
        return "register"
    return "constant" if symbol.space == ".const" else "variable"
