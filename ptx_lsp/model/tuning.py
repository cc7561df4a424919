"""The directives in the head of a kernel or function: what they ask for, and which of them count.

A kernel may repeat a directive; ptxas then goes by the last one (seen in the attributes of the code it
makes: docs/ptxas.md, section 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from ptx_lsp.facts import directive_fact
from ptx_lsp.model.constants import whole_number
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes


class Given(NamedTuple):
    """A directive and the values of its arguments, None where one is no whole number."""

    node: nodes.Directive
    values: tuple[int | None, ...]

    @property
    def name(self) -> str:
        """With the dot."""
        return self.node.name.text

    @property
    def extent(self) -> tuple[int, int, int] | None:
        """The three dimensions; those left out are 1. None where a value is not known."""
        known = [value for value in self.values if value is not None]
        if len(known) != len(self.values) or not 1 <= len(known) <= 3:
            return None
        x, y, z = [*known, 1, 1][:3]
        return x, y, z

    @property
    def product(self) -> int | None:
        """Of all dimensions; None where a value is not known."""
        return None if self.extent is None else prod(self.extent)

    @property
    def is_unset(self) -> bool:
        """Whether ptxas takes it for not given: the first number is 0."""
        return bool(self.values) and self.values[0] == 0


@dataclass(frozen=True, slots=True)
class Tuning:
    """The directives of one head, in the order of the text."""

    given: tuple[Given, ...]

    def last(self, name: str) -> Given | None:
        """The one that ptxas goes by; None where there is none of that name."""
        return next((one for one in reversed(self.given) if one.name == name), None)

    def first(self, name: str) -> Given | None:
        return next((one for one in self.given if one.name == name), None)

    @property
    def repeated(self) -> Iterator[tuple[Given, Given]]:
        """Each directive that has the name of an earlier one, behind the last such."""
        before: dict[str, Given] = {}
        for one in self.given:
            if one.name in before:
                yield before[one.name], one
            before[one.name] = one

    @property
    def block(self) -> Given | None:
        """What says how many threads a block has: `.reqntid`, else `.maxntid`."""
        return self.last(".reqntid") or self.last(".maxntid")


@directive_fact
def tuning(function: Function) -> Tuning:
    """What stands in the head of a function, or of its declaration; `.pragma` apart."""
    return given_in(function.node.directives)


def given_in(directives: tuple[nodes.Directive, ...]) -> Tuning:
    """What some directives say: those of a head, or of a call prototype."""
    return Tuning(
        tuple(
            Given(directive, tuple(whole_number(value) for value in directive.arguments))
            for directive in directives
            if directive.name.text != ".pragma"
        )
    )


class Signature(NamedTuple):
    """What a function, or a call prototype, returns and promises."""

    node: nodes.Function | nodes.CallPrototype
    tuning: Tuning


@directive_fact
def signatures(function: Function) -> tuple[Signature, ...]:
    """That of a `.func` itself, and those of the call prototypes in a body."""
    own = () if function.is_kernel else (Signature(function.node, tuning(function)),)
    prototypes = (node for node, _ in function.body.directives if isinstance(node, nodes.CallPrototype))
    return (*own, *(Signature(node, given_in(node.directives)) for node in prototypes))
