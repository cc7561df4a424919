"""Every declaration of registers, variables and parameters, with its kind of place."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Owner, Place, anchor
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import TypeAlias

Where: TypeAlias = Literal["module", "body", "kernel parameter", "parameter", "return"]
"""`parameter` and `return` refer to a function or call prototype."""


class Declared(NamedTuple):
    """A declaration and its place; `owner` identifies the top-level statement (`Place`)."""

    owner: Owner
    node: nodes.Declaration
    where: Where
    of_prototype: bool = False
    """Whether it is a parameter of a function without a body, or of a call prototype. It creates no variable,
    and ptxas does not check whether it could.
    """

    @property
    def space(self) -> str:
        """The state space with its dot; empty if absent."""
        return self.node.space.text if self.node.space else ""

    @property
    def is_parameter(self) -> bool:
        return self.where not in ("module", "body")

    def place(self, part: nodes.Name | nodes.Number | nodes.Expression) -> Place:
        return Place.of(self.owner, part)


def declarations(module: Module) -> Iterator[Declared]:
    """All declarations of a module, in text order."""
    functions = iter(module.functions)
    for item in module.document.items:
        match item.node:
            case nodes.Function():
                yield from declarations_of(next(functions))
            case nodes.Declaration() as node:
                yield Declared(node, node, "module")
            case _:
                pass


def declarations_outside(module: Module) -> Iterator[Declared]:
    """The declarations outside functions."""
    for item in module.outside:
        if isinstance(item.node, nodes.Declaration):
            yield Declared(item.node, item.node, "module")


@directive_fact
def declarations_of(function: Function) -> tuple[Declared, ...]:
    """The declarations of one function, its parameters first."""
    return tuple(_of(function))


def _of(function: Function) -> Iterator[Declared]:
    node, owner = function.node, anchor(function.node)
    where: Where = "kernel parameter" if function.is_kernel else "parameter"
    bare = node.body is None
    yield from (Declared(owner, found, "return", bare) for found in node.returns or ())
    yield from (Declared(owner, found, where, bare) for found in node.parameters or ())
    for statement, _ in function.body.directives:
        if isinstance(statement, nodes.Declaration):
            yield Declared(owner, statement, "body")
        elif isinstance(statement, nodes.CallPrototype):
            yield from (Declared(owner, found, "return", True) for found in statement.returns or ())
            yield from (Declared(owner, found, "parameter", True) for found in statement.parameters)
