"""The rule `redeclaration`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.calls.prototype import difference
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import dimensions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName, Variable

_SPACES = frozenset({".global", ".const", ".shared", ".tex"})


@module_rule("redeclaration", code="E113")
def redeclaration(module: Module) -> Iterator[Finding]:
    """A declaration of a variable or function that conflicts with an earlier one.

    ## What it does
    A function can be declared several times before its body, and a variable can be declared `.extern`
    and then defined, if all declarations agree on types, parameters and linkage. Reports those that do
    not, and duplicate definitions.

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
    There is no fix: either declaration may be wrong.
    """
    again = {repeated.symbol.name for repeated in module.repeated}
    if not again:
        return
    named: dict[str, list[Function]] = {}
    for function in sorted(module.functions, key=lambda f: f.item.start):
        if function.name in again:
            named.setdefault(function.name, []).append(function)
    for functions in named.values():
        defined = next((one for one in functions if one.symbol.is_definition), None)
        for function in functions[1:]:
            finding = _of_function(function, functions[0], defined)
            if finding is not None:
                yield finding
    reported: set[str] = set()
    for repeated in module.repeated:
        name = repeated.symbol.name
        if name in reported:
            continue
        reported.add(name)
        declared = [symbol for _, symbol in module.names[name]]
        variables = [symbol for symbol in declared if isinstance(symbol, Variable)]
        functions = named.get(name, [])
        if variables and functions:
            yield _of_two_kinds(module, variables[0], functions[0].symbol)
            continue
        if isinstance(repeated.first, Variable) and repeated.first not in variables:
            variables.insert(0, repeated.first)  # a range
        yield from _of_variables(variables)


# -- functions ------------------------------------------------------------------------------------


def _of_function(function: Function, first: Function, defined: Function | None) -> Finding | None:
    """`first` and `defined` are the first declaration and the first definition of that name."""
    name, kind = function.name, function.symbol.kind
    place, start = function.symbol.place, function.item.start
    if function.is_kernel != first.is_kernel:
        return _again(
            place,
            f"`{name}` is already declared as a {first.symbol.kind}, not a {kind}",
            first.symbol.place,
        )
    if defined is not None and defined.item.end <= start:
        message = f"the {kind} `{name}` is already defined; declare it before its body"
        return _again(place, message, defined.symbol.place)
    found = difference(first.node, function.node)
    if found is not None:
        at = _head(function) if found.part is None else Place.of(function.node, found.part)
        return _again(
            at,
            f"`{name}` does not match its earlier declaration: {found.message}",
            first.symbol.place,
        )
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
        return f"`{first.name}` is declared `.extern` but has a body"
    before, here = (f"`{word}`" if word else "no linkage" for word in (former, latter))
    return f"`{first.name}` is first declared with {before}, but has {here} now"


# -- variables ------------------------------------------------------------------------------------


def _of_variables(variables: list[Variable]) -> Iterator[Finding]:
    """Those of one name, in order."""
    earlier = _Earlier(variables[0]) if variables else None
    for variable in variables[1:]:
        assert earlier is not None
        if variable.space not in _SPACES or not earlier.is_in_spaces:
            return
        finding = _of_variable(variable, earlier)
        if finding is not None:
            yield finding
        earlier.add(variable)


class _Earlier:
    """The earlier declarations of a variable, as far as they matter."""

    def __init__(self, first: Variable) -> None:
        self.first = first
        self.is_in_spaces = first.space in _SPACES
        self.has_range = False
        self.is_extern = False
        """Whether one is `.extern`."""
        self.defined: Variable | None = None
        """The first that is not."""
        self.types: dict[tuple[object, ...], Variable] = {}
        """The first of each type."""
        self.add(first)

    def add(self, variable: Variable) -> None:
        self.has_range = self.has_range or variable.declarator.range is not None
        if variable.linkage == ".extern":
            self.is_extern = True
        elif self.defined is None:
            self.defined = variable
        self.types.setdefault((variable.type, variable.vector, dimensions(variable.declarator)), variable)


def _of_variable(variable: Variable, earlier: _Earlier) -> Finding | None:
    name, place = variable.name, variable.place
    is_extern = variable.linkage == ".extern"
    if earlier.has_range or variable.declarator.range is not None:
        if not (earlier.is_extern or is_extern):
            return _again(
                place, f"`{name}` is already declared, as part of a range", earlier.first.place
            )
        return None
    for other in earlier.types.values():
        if not _is_same_type(other, variable):
            return _again(place, f"`{name}` is already declared with another type", other.place)
    if is_extern:
        return None
    if earlier.defined is not None:
        return _again(place, f"`{name}` is already defined", earlier.defined.place)
    if not variable.linkage:
        message = f"`{name}` is declared `.extern`; its definition requires `.visible` or `.weak`"
        return _again(place, message, earlier.first.place)
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
    return _again(
        second, f"`{variable.name}` is already declared as a {kinds[0]}, not a {kinds[1]}", first
    )


def _again(place: Place, message: str, first: Place) -> Finding:
    return Finding(place, message, ((first, "the earlier declaration"),))
