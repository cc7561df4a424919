"""The rule `wrong-attribute`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.isa.features import ATTRIBUTES
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

_VALUES = {".managed": 0, ".unified": 2}
"""How many numbers each takes."""


@module_rule("wrong-attribute", code="E142", words=(".attribute",))
def wrong_attribute(module: Module) -> Iterator[Finding]:
    """An invalid or misplaced `.attribute`.

    ## What it does
    Reports unknown attributes, `.managed` with numbers, `.unified` without its two numbers, attributes
    of kernels, attributes after the name of a function, and every `.unified`.

    ## Why it matters
    ptxas rejects them. It accepts `.unified` only with `--compile-only`.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .attribute(.managed(1)) .b32 counter;
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .attribute(.managed) .b32 counter;
    ```

    ## Fix safety
    There is no fix: the intended attribute is unknown.
    """
    for declared in declarations_outside(module):
        yield from _of_each(_of_declaration(declared))
    yield from _of_each(collect_over_functions(_in_function, module))


class _Attribute(NamedTuple):
    node: nodes.Attribute
    owner: Owner
    misplaced: str
    """Why no attribute can stand there, if so."""


def _of_declaration(declared: Declared) -> Iterator[_Attribute]:
    """That `.managed` and `.unified` are for `.global` tells the rule `invalid-declaration`."""
    for attribute in declared.node.attributes:
        if declared.space == ".global" or attribute.name.text not in ATTRIBUTES:
            yield _Attribute(attribute, declared.owner, "")


@directive_fact
def _in_function(function: Function) -> tuple[_Attribute, ...]:
    node = function.node
    found = [_Attribute(one, node.kind, _about_place(function, one)) for one in node.attributes]
    for declared in declarations_of(function):
        found += _of_declaration(declared)
    return tuple(found)


def _about_place(function: Function, attribute: nodes.Attribute) -> str:
    if function.is_kernel:
        return "`.attribute` is not allowed on a kernel"
    name = function.node.name
    is_behind = name is not None and attribute.start > name.start
    return "`.attribute` must precede the name of the function" if is_behind else ""


def _of_each(found: Iterable[_Attribute]) -> Iterator[Finding]:
    for attribute in found:
        name = attribute.node.name
        message = attribute.misplaced or _about(attribute.node)
        if message and not (name.text == ".managed" and attribute.misplaced):
            yield Finding(Place.of(attribute.owner, name), message)


def _about(attribute: nodes.Attribute) -> str | None:
    name = attribute.name.text
    if name not in _VALUES:
        return f"`{name}` is not a PTX attribute; expected `.managed` or `.unified`"
    values = [whole_number(value) for value in attribute.values]
    if len(values) != _VALUES[name] or None in values:
        return f"`{name}` takes {'two whole numbers' if _VALUES[name] else 'no number'}"
    if name == ".unified":
        return "`.unified` requires `ptxas --compile-only`; it is not allowed in a whole program"
    return None
