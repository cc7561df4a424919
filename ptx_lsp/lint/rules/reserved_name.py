"""The rule `reserved-name`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa import special_registers
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import each_function, each_functions_directives, module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes

_WORDS = {
    "WARP_SZ": "it is the number of threads in a warp, 32",
    "function_name": "it is a keyword of `.loc`",
    "inlined_at": "it is a keyword of `.loc`",
}
_LABELS = ("_", *_WORDS)


@module_rule("reserved-name", code="E192")
def reserved_name(module: Module) -> Iterator[Finding]:
    """A name that PTX reserves.

    ## What it does
    Reports kernels, functions, parameters, variables, registers and labels named `WARP_SZ`,
    `function_name` or `inlined_at`; those named `_`, except parameters of kernels and prototypes; and
    kernels, functions and variables outside functions that have the name of a special register. (Inside
    a function, a name may shadow a special register.)

    ## Why it matters
    ptxas rejects them.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .align 4 .b32 WARP_SZ;
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .align 4 .b32 warp_size;
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: other files may use the name.
    """
    for declared in declarations_outside(module):
        yield from _of_declaration(declared)
    yield from _of_heads(module)
    yield from _of_directives(module)
    yield from _of_labels(module)


def _of_declaration(declared: Declared) -> Iterator[Finding]:
    for declarator in declared.node.declarators:
        name = declarator.name
        message = _reserved(name.text, is_parameter=declared.is_parameter)
        if message is None and declared.where == "module":
            is_extern = any(word.text == ".extern" for word in declared.node.linkage)
            message = _special(name.text, is_extern=is_extern)
        if message is not None:
            yield Finding(declared.place(name), message)


@each_functions_directives
def _of_directives(function: Function) -> Iterator[Finding]:
    for declared in declarations_of(function):
        yield from _of_declaration(declared)


@each_functions_directives
def _of_heads(function: Function) -> Iterator[Finding]:
    name = function.node.name
    if name is not None:
        message = _reserved(name.text) or _special(name.text)
        if message is not None:
            yield Finding(function.place(name), message)


def _may_have_labels(function: Function) -> bool:
    """Whether one of the words is declared at all."""
    return any(word in scope.names for scope in function.body.scopes for word in _LABELS)


@each_function(having(_may_have_labels))
def _of_labels(function: Function) -> Iterator[Finding]:
    for statement in function.body.statements:
        if type(statement) is nodes.Label:
            message = _reserved(statement.name.text)
            if message is not None:
                yield Finding(Place.of(function.node, statement.name), message)


def _reserved(name: str, *, is_parameter: bool = False) -> str | None:
    if name == "_" and not is_parameter:  # of parameters the rule `invalid-declaration` tells
        return "`_` is not a name; it discards a result"
    return f"`{name}` is a reserved name: {_WORDS[name]}" if name in _WORDS else None


def _special(name: str, *, is_extern: bool = False) -> str | None:
    """ptxas takes an `.extern` variable for the special register, where that is no vector."""
    found = special_registers.find(name) if name.startswith("%") else None
    if found is None or (is_extern and found.vector == 1):
        return None
    return f"`{name}` is a special register, whose name is reserved outside functions"
