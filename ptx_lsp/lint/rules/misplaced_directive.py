"""The rule `misplaced-directive`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import Directive, Where
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import each_functions_directives, module_rule
from ptx_lsp.model.directives.directives import Use, directives_of, directives_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.syntax import nodes

_IN_WORDS: dict[Where, str] = {
    "module": "outside functions",
    "kernel": "in the header of a kernel",
    "kernel prototype": "in a kernel declaration without a body",
    "function": "in the header of a function",
    "function prototype": "in a function's declaration without a body",
    "call prototype": "in a `.callprototype`",
    "body": "in a function body",
    "parameter": "in a parameter list",
    "variable": "in a declaration",
    "section": "in a `.section`",
}
_HEADER = (nodes.Version, nodes.Target, nodes.AddressSize)
_LINKED_SPACES = frozenset({".global", ".const", ".shared", ".tex", ".reg", ".local", ".param"})
_NEED_LABEL = frozenset({".branchtargets", ".calltargets", ".callprototype"})


@module_rule("misplaced-directive", code="E133")
def misplaced_directive(module: Module) -> Iterator[Finding]:
    """A directive in a place where PTX does not allow it.

    ## What it does
    Reports directives of a kernel header in a body or before another statement, module directives in a
    body and body directives outside, linkage (`.visible`, `.extern`, `.weak`, `.common`) that is
    misplaced or duplicated, and `.branchtargets`, `.calltargets` and `.callprototype` without a label.

    ## Why it matters
    ptxas reports a syntax error and stops.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .maxntid 256, 1, 1
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    .maxntid 256, 1, 1
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended place is unknown.
    """
    for use in directives_outside(module):
        yield from _of(module, use)
    yield from _in_functions(module)


@each_functions_directives
def _in_functions(function: Function) -> Iterator[Finding]:
    for use in directives_of(function):
        if use.where == "body" and function.item.is_unclosed:  # it may have been meant to end before
            continue
        if use.where in ("kernel prototype", "function prototype") and function.item.problems:
            continue  # its body may stand behind what is broken in its head
        yield from _of(module_of(function), use)


def _of(module: Module, use: Use) -> Iterator[Finding]:
    row = use.row
    if row is not None and row.is_accepted:
        if isinstance(use.node, _HEADER) and use.where == "module":
            return  # the rule `file-header`
        misplaced = None if use.is_nameless else _about_place(module, use, row)
        message = misplaced or _about_linkage(use)
        if message is not None:
            yield Finding(use.place, message)


def _about_place(module: Module, use: Use, row: Directive) -> str | None:
    name = f"`{row.name}`"
    if use.where not in row.places:
        places = [_IN_WORDS[place] for place in _IN_WORDS if place in row.places]
        listed = " or ".join(places)
        return f"{name} is not allowed {_IN_WORDS[use.where]}; it belongs {listed}"
    for place, version in row.ended:
        if use.where == place and module.version is not None and module.version >= version:
            others = " or ".join(_IN_WORDS[p] for p in _IN_WORDS if p in row.places and p != place)
            return (
                f"{name} is not allowed {_IN_WORDS[place]} since PTX ISA {version}; declare "
                f"it {others}"
            )
    if row.name in _NEED_LABEL and not use.labelled:
        return f"{name} requires a label: `name: {row.name} ...;`"
    return None


def _about_linkage(use: Use) -> str | None:
    if not use.linkage:
        return None
    first = use.linkage[0]
    if len(use.linkage) > 1:
        second = use.linkage[1]
        return (
            f"`{second.text}` conflicts with `{first.text}`: a declaration has at most one linkage"
        )
    match use.node:
        case nodes.Function(kind=kind):
            if first.text != ".common":
                return None
            return f"`.common` requires a variable in `.global`; it is not allowed on `{kind.text}`"
        case nodes.Declaration() if use.where == "module" and use.name.text in _LINKED_SPACES:
            return None
        case nodes.Declaration() if use.where == "body":
            return f"`{first.text}` is not allowed in a function body, whose declarations are local"
        case _ if use.name.start == first.start:
            return f"`{first.text}` must precede a function or a variable with its state space"
        case _:
            return f"`{first.text}` is not allowed before `{use.name.text}`"
