"""The rule `invalid-alias`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.body import predefined
from ptx_lsp.model.calls.prototype import difference
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import AliasName, FunctionName, Symbol
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import TypeAlias

_NOT_ALIASED = (".extern", ".weak")


@module_rule("invalid-alias", code="E117", words=(".alias",))
def invalid_alias(module: Module) -> Iterator[Finding]:
    """An invalid `.alias`.

    ## What it does
    `.alias name, function;` makes `name`, a function declared without a body, another name of
    `function`. Reports kernels and variables on either side, a name that has a body or is already an
    alias, functions that are `.extern` or `.weak`, and functions with different parameters.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .weak .func add_one()
    {
        ret;
    }
    .func increment();
    .alias increment, add_one;
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .func add_one()
    {
        ret;
    }
    .func increment();
    .alias increment, add_one;
    ```

    ## Fix safety
    There is no fix: the intent is unknown.
    """
    aliased: dict[str, Place] = {}
    named: dict[str, list[Function]] = {}
    for alias in _aliases(module):
        if not named:
            for function in module.functions:
                named.setdefault(function.name, []).append(function)
        yield from _of(module, alias, aliased, named)


Resolve: TypeAlias = Callable[[nodes.Name], Symbol | None]


class _Alias(NamedTuple):
    """`.alias name, aliasee;` in `owner`, the top-level statement."""

    owner: nodes.Statement
    name: nodes.Name
    aliasee: nodes.Name
    resolve: Resolve

    def place(self, part: nodes.Name) -> Place:
        return Place.of(self.owner, part)


def _aliases(module: Module) -> Iterator[_Alias]:
    """In the order of the text."""
    functions = iter(module.functions)
    in_functions = any(collect_over_functions(_aliases_in, module))
    for item in module.document.items if in_functions else module.outside:
        match item.node:
            case nodes.Alias(name=nodes.Name() as name, aliasee=nodes.Name() as aliasee):
                yield _Alias(item.node, name, aliasee, _before(module, item.start))
            case nodes.Function():
                function = next(functions)
                for name, aliasee in _aliases_in(function):
                    yield _Alias(function.node, name, aliasee, function.resolve)
            case _:
                pass


@directive_fact
def _aliases_in(function: Function) -> tuple[tuple[nodes.Name, nodes.Name], ...]:
    return tuple(
        (statement.name, statement.aliasee)
        for statement, _ in function.body.directives
        if isinstance(statement, nodes.Alias)
        and isinstance(statement.name, nodes.Name)
        and isinstance(statement.aliasee, nodes.Name)
    )


def _before(module: Module, start: int) -> Resolve:
    return lambda name: module.find(name.text, start) or predefined(name.text)


def _of(
    module: Module, alias: _Alias, aliased: dict[str, Place], named: dict[str, list[Function]]
) -> Iterator[Finding]:
    """`aliased` are the aliases so far, `named` the functions by their names."""
    name, aliasee = alias.name, alias.aliasee
    here = alias.place(name)
    first = aliased.setdefault(name.text, here)
    if first is not here:
        message = f"`{name.text}` is already an alias"
        yield Finding(here, message, ((first, "the first `.alias`"),))
        return
    if name.text == aliasee.text:
        yield Finding(alias.place(aliasee), f"`{name.text}` cannot be an alias of itself")
        return
    targets = alias.resolve(name), alias.resolve(aliasee)
    if None in targets:
        return  # the rule `undeclared-name`
    wrong = False
    for word, symbol in zip((name, aliasee), targets, strict=True):
        if symbol is None or isinstance(symbol, AliasName):
            continue
        if not isinstance(symbol, FunctionName) or symbol.is_kernel:
            wrong = True
            yield Finding(
                alias.place(word),
                f"`{word.text}` is a {symbol.kind}; only functions can be aliased",
            )
    if not wrong:
        yield from _of_functions(module, alias, named)


def _of_functions(
    module: Module, alias: _Alias, named: dict[str, list[Function]]
) -> Iterator[Finding]:
    start = module.span(alias.place(alias.name)).start
    names, functions = (
        [function for function in named.get(name.text, ()) if function.item.start <= start]
        for name in (alias.name, alias.aliasee)
    )
    for function in names:
        if function.symbol.is_definition and function.item.end <= start:
            message = f"`{alias.name.text}` has a body, but an alias must be declared without one"
            related = ((function.symbol.place, "the body"),)
            yield Finding(alias.place(alias.name), message, related)
            return
    for function in functions[:1]:
        linkage = function.symbol.linkage
        if linkage in _NOT_ALIASED:
            message = f"`{alias.aliasee.text}` is `{linkage}`, so it cannot have an alias"
            related = ((function.symbol.place, "the declaration"),)
            yield Finding(alias.place(alias.aliasee), message, related)
            return
    if names and functions:
        found = difference(functions[0].node, names[0].node)
        if found is not None:
            message = f"`{alias.name.text}` and `{alias.aliasee.text}` differ: {found.message}"
            part = names[0].symbol.place
            if found.part is not None:
                part = Place.of(names[0].node, found.part)
            yield Finding(alias.place(alias.name), message, ((part, "it is declared here"),))
