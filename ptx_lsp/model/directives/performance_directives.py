"""The performance-tuning directives in the head of a kernel or function, and their effect."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptx_lsp.facts import directive_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.constants import whole_number
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final


class PerformanceDirective(NamedTuple):
    """A directive and the values of its arguments; None for a value that is not a whole number."""

    node: nodes.Directive
    values: tuple[int | None, ...]

    @property
    def name(self) -> str:
        """The name with its dot."""
        return self.node.name.text

    @property
    def extent(self) -> tuple[int, int, int] | None:
        """The three dimensions; omitted ones are 1. None if a value is unknown."""
        known = [value for value in self.values if value is not None]
        if len(known) != len(self.values) or not 1 <= len(known) <= 3:
            return None
        x, y, z = [*known, 1, 1][:3]
        return x, y, z

    @property
    def product(self) -> int | None:
        """The product of all dimensions; None if a value is unknown."""
        return None if self.extent is None else prod(self.extent)

    @property
    def is_unset(self) -> bool:
        """Whether ptxas ignores the directive because the first number is 0."""
        return bool(self.values) and self.values[0] == 0


class EffectiveDirectives:
    """The directives of one head, in text order."""

    __slots__ = ("directives",)

    def __init__(self, directives: tuple[PerformanceDirective, ...]) -> None:
        self.directives: Final = directives

    def last(self, name: str) -> PerformanceDirective | None:
        """The directive that applies in ptxas; None if there is none of that name."""
        return next((one for one in reversed(self.directives) if one.name == name), None)

    def first(self, name: str) -> PerformanceDirective | None:
        return next((one for one in self.directives if one.name == name), None)

    @property
    def repeated(self) -> Iterator[tuple[PerformanceDirective, PerformanceDirective]]:
        """Each directive with the name of an earlier one, with the previous such directive."""
        before: dict[str, PerformanceDirective] = {}
        for one in self.directives:
            if one.name in before:
                yield before[one.name], one
            before[one.name] = one

    @property
    def block(self) -> PerformanceDirective | None:
        """The directive that gives the threads per block: `.reqntid`, else `.maxntid`."""
        return self.last(".reqntid") or self.last(".maxntid")


@directive_fact
def effective_directives(function: Function) -> EffectiveDirectives:
    """The directives in the head of a function or of its declaration, except `.pragma`."""
    return performance_directives(function.node.directives)


def performance_directives(directives: tuple[nodes.Directive, ...]) -> EffectiveDirectives:
    """The performance directives among some directives, from a head or a call prototype."""
    return EffectiveDirectives(
        tuple(
            PerformanceDirective(directive, tuple(whole_number(value) for value in directive.arguments))
            for directive in directives
            if directive.name.text != ".pragma"
        )
    )


class Signature(NamedTuple):
    """The results and attributes of a function or call prototype."""

    node: nodes.Function | nodes.CallPrototype
    directives: EffectiveDirectives


@directive_fact
def signatures(function: Function) -> tuple[Signature, ...]:
    """The signature of a `.func`, and the signatures of the call prototypes in a body."""
    own = () if function.is_kernel else (Signature(function.node, effective_directives(function)),)
    prototypes = (node for node, _ in function.body.directives if isinstance(node, nodes.CallPrototype))
    return (*own, *(Signature(node, performance_directives(node.directives)) for node in prototypes))
