"""The rule `redeclaration`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.layout import dimensions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.prototype import difference
from ptx_lsp.model.symbols import FunctionName, Variable

_SPACES = frozenset({".global", ".const", ".shared"})


@module_rule("redeclaration", code="E113")
def redeclaration(module: Module) -> Iterator[Finding]:
    """A variable or function of the module declared again in a way that does not go with the first.

    ## What it does
    A function can be declared several times before its body, and a variable declared `.extern` and then
    defined, if all agree on types, parameters and linkage. Reports those that do not, and what is defined
    twice.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func scale(.param .b32 factor);
    .visible .func scale(.param .b64 factor)
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func scale(.param .b64 factor);
    .visible .func scale(.param .b64 factor)
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either declaration may be the wrong one.
    """
    again = {repeated.symbol.name for repeated in module.repeated}
    if not again:
        return
    named: dict[str, list[Function]] = {}
    for function in sorted(module.functions, key=lambda f: f.item.start):
        if function.name in again:
            named.setdefault(function.name, []).append(function)
    for functions in named.values():
        for index, function in enumerate(functions[1:], 1):
            finding = _of_function(function, functions[:index])
            if finding is not None:
                yield finding
    told: set[str] = set()
    for repeated in module.repeated:
        name = repeated.symbol.name
        declared = [symbol for _, symbol in module.names[name]]
        variables = [symbol for symbol in declared if isinstance(symbol, Variable)]
        functions = named.get(name, [])
        if name in told:
            continue
        told.add(name)
        if variables and functions:
            yield _of_two_kinds(module, variables[0], functions[0].symbol)
            continue
        if isinstance(repeated.first, Variable) and repeated.first not in variables:
            variables.insert(0, repeated.first)  # a range
        for index, variable in enumerate(variables[1:], 1):
            finding = _of_variable(variable, variables[:index])
            if finding is not None:
                yield finding


# -- functions ------------------------------------------------------------------------------------


def _of_function(function: Function, earlier: list[Function]) -> Finding | None:
    first = earlier[0]
    name, kind = function.name, function.symbol.kind
    place, start = function.symbol.place, function.item.start
    if function.is_kernel != first.is_kernel:
        return _again(place, f"`{name}` is a {first.symbol.kind} already, not a {kind}", first.symbol.place)
    for other in earlier:
        if other.symbol.is_definition and other.item.end <= start:
            message = f"the {kind} `{name}` is defined already; a declaration belongs before the body"
            return _again(place, message, other.symbol.place)
    found = difference(first.node, function.node)
    if found is not None:
        at = _head(function) if found.part is None else Place.of(function.node, found.part)
        return _again(at, f"`{name}` is declared otherwise before: {found.message}", first.symbol.place)
    message = _linkage(first.symbol, function.symbol)
    return None if message is None else _again(place, message, first.symbol.place)


def _head(function: Function) -> Place:
    """The name; where the head goes over several lines, the `{` behind it, whose line ptxas names."""
    name, body = function.symbol.place, function.node.body
    base = function.item.start
    text = function.module.document.source.text
    if body is None or "\n" not in text[base + name.end : base + body.start]:
        return name
    return function.part(body.start, body.start + 1)


def _linkage(first: FunctionName, second: FunctionName) -> str | None:
    """A later declaration may leave `.visible` and `.weak` out, and that is all."""
    former, latter = first.linkage, second.linkage
    if former == latter or (not latter and former != ".extern"):
        return None
    if former == ".extern" and second.is_definition:
        return f"`{first.name}` is declared `.extern`, as of another file, and has a body here"
    before, here = (f"`{word}`" if word else "no linkage" for word in (former, latter))
    return f"`{first.name}` has {before} in its first declaration, and {here} here"


# -- variables ------------------------------------------------------------------------------------


def _of_variable(variable: Variable, earlier: list[Variable]) -> Finding | None:
    name, place = variable.name, variable.place
    if any(one.space not in _SPACES for one in (variable, *earlier)):
        return None
    if any(one.declarator.range is not None for one in (variable, *earlier)):
        if all(one.linkage != ".extern" for one in (variable, *earlier)):
            return _again(place, f"`{name}` is one of a range declared already", earlier[0].place)
        return None
    for other in earlier:
        if not _is_same_type(other, variable):
            return _again(place, f"`{name}` is declared with another type before", other.place)
    if variable.linkage == ".extern":
        return None
    for other in earlier:
        if other.linkage != ".extern":
            return _again(place, f"`{name}` is defined already", other.place)
    if not variable.linkage:
        message = f"`{name}` is declared `.extern`; its definition needs `.visible` or `.weak`"
        return _again(place, message, earlier[0].place)
    return None


def _is_same_type(one: Variable, other: Variable) -> bool:
    """In doubt yes."""
    if not one.type or not other.type:
        return True
    if one.type != other.type or one.vector != other.vector:
        return False
    former, latter = dimensions(one.declarator), dimensions(other.declarator)
    if len(former) != len(latter):
        return False
    return all(a == b or a is None or b is None for a, b in zip(former, latter, strict=True))


def _of_two_kinds(module: Module, variable: Variable, function: FunctionName) -> Finding:
    first, second = variable.place, function.place
    if module.span(first).start > module.span(second).start:
        first, second = second, first
    is_function = second is function.place
    kinds = (variable.kind, function.kind) if is_function else (function.kind, variable.kind)
    return _again(second, f"`{variable.name}` is a {kinds[0]} already, not a {kinds[1]}", first)


def _again(place: Place, message: str, first: Place) -> Finding:
    return Finding(place, message, ((first, "the earlier declaration"),))
