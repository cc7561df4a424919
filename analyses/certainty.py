"""Whether a function is understood: analyses of one that is not may be wrong, and rules keep silent.

A function is understood when its syntax is right, every name is declared, and the instruction table knows
each instruction with its operands; and when its graph is not so intricate that analyses give up
(`dominance.py`, `sync_dependence.py`, `values.py`).
"""

from __future__ import annotations

from collections.abc import Iterator

from analyses.steps import Step, steps
from analyses.sync_dependence import sync_dependence
from analyses.values import values
from ptx_lsp.facts import fact, numbered, of_all
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module


@fact
def is_certain(function: Function) -> bool:
    """Whether everything in `function` is understood, and it has a body."""
    body = function.body
    if not function.symbol.is_definition or function.item.problems or function.item.is_unclosed:
        return False
    if function.undeclared or function.undeclared_late or body.duplicates or function.early_uses:
        return False
    if _not_understood(function).numbers:
        return False
    return values(function).is_known and not sync_dependence(function).is_too_complex


@numbered
def _not_understood(function: Function, number: int) -> Iterator[Step]:
    step = steps(function).steps[number]
    if step.match is None or step.match.problems:
        yield step


def all_are_certain(module: Module) -> bool:
    """Whether every function of a module that has a body is understood."""
    return not any(of_all(_doubted, module))


@fact
def _doubted(function: Function) -> tuple[bool, ...]:
    return (True,) if function.symbol.is_definition and not is_certain(function) else ()
