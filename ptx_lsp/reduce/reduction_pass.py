"""How to write a pass: a function of a program that proposes steps, decorated with `@reduction_pass`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from ptx_lsp.packages import module_names
from ptx_lsp.reduce.program import Program
from ptx_lsp.reduce.step import Step

Stage: TypeAlias = Literal["text", "deletion", "simplification", "name"]
STAGES: tuple[Stage, ...] = ("text", "deletion", "simplification", "name")
"""The stages, in the order in which their passes run."""
Propose: TypeAlias = Callable[[Program], Iterable[Step]]


@dataclass(frozen=True)
class Pass:
    """`order` is the position within the stage. `is_list`: the steps delete elements of lists. `is_layout`:
    they change blanks only, to a layout that they do not change again.
    """

    name: str
    stage: Stage
    order: int
    propose: Propose
    is_list: bool = False
    is_layout: bool = False

    def steps(self, program: Program) -> list[Step]:
        """The steps in the order in which they are tried, without those that change nothing."""
        return [
            step
            for step in self.propose(program)
            if any(program.data[edit.start : edit.end] != edit.replacement for edit in step)
        ]


def reduction_pass(
    name: str, stage: Stage, order: int, *, is_list: bool = False, is_layout: bool = False
) -> Callable[[Propose], Pass]:
    """Makes a pass of a function; `name` is for users, as in "removing `name`"."""

    def made(propose: Propose) -> Pass:
        return Pass(name, stage, order, propose, is_list, is_layout)

    return made


@cache
def all_passes() -> tuple[Pass, ...]:
    """Every pass in the package `passes`, in the order in which they run."""
    package = importlib.import_module("ptx_lsp.reduce.passes")
    found = [
        value
        for name in module_names(package.__path__)
        for value in vars(importlib.import_module(f"{package.__name__}.{name}")).values()
        if isinstance(value, Pass)
    ]
    return tuple(sorted(found, key=lambda one: (STAGES.index(one.stage), one.order, one.name)))
