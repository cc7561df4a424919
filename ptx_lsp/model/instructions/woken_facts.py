"""Facts about the instructions that wake them (`wakes.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain

from ptx_lsp.facts import InstructionResults, Previous, fact, incremental_fact
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake, function_wakes, waking, waking_between
from ptx_lsp.static_typing import TypeVar
from ptx_lsp.syntax import nodes

_T = TypeVar("_T")


def sparse_instruction_fact(
    wake: InstructionWake,
) -> Callable[[Callable[[Function, int], Iterable[_T]]], Callable[[Function], InstructionResults[_T]]]:
    """Makes a function run once per instruction that satisfies `wake`, with its index. It may depend on that
    index and on the inputs of an `instruction_fact`.
    """

    def decorate(
        find: Callable[[Function, int], Iterable[_T]],
    ) -> Callable[[Function], InstructionResults[_T]]:
        def results(function: Function, numbers: list[int]) -> InstructionResults[_T]:
            indices: list[int] = []
            found: list[tuple[_T, ...]] = []
            for number in numbers:
                parts = tuple(find(function, number))
                if parts:
                    indices.append(number)
                    found.append(parts)
            return InstructionResults(tuple(indices), tuple(found))

        @incremental_fact
        @wraps(find)
        def of_woken(
            function: Function, earlier: Previous[InstructionResults[_T]] | None
        ) -> InstructionResults[_T]:
            if earlier is None:
                return results(function, waking(function, wake))
            first, _, end = earlier.change
            new = results(function, waking_between(function, wake, first, end))
            return earlier.value.spliced(earlier.change, new)

        nothing = InstructionResults[_T]((), ())

        @wraps(find)
        def known(function: Function) -> InstructionResults[_T]:
            return of_woken(function) if function_wakes(function) & wake.bit else nothing

        return known

    return decorate


def collect_over_instructions(
    wake: InstructionWake,
) -> Callable[
    [Callable[[Function, nodes.Instruction], Iterable[_T]]], Callable[[Function], tuple[_T, ...]]
]:
    """Makes a function run once per instruction that satisfies `wake`; the fact is everything that it finds,
    in order. It may depend on the inputs of an `instruction_fact`.
    """

    def decorate(
        find: Callable[[Function, nodes.Instruction], Iterable[_T]],
    ) -> Callable[[Function], tuple[_T, ...]]:
        @sparse_instruction_fact(wake)
        @wraps(find)
        def at(function: Function, number: int) -> Iterable[_T]:
            return find(function, function.body.instructions[number])

        return flattened(wake, at)

    return decorate


def flattened(
    wake: InstructionWake, known: Callable[[Function], InstructionResults[_T]]
) -> Callable[[Function], tuple[_T, ...]]:
    """All results of a fact about the instructions that satisfy `wake`, in order."""

    @fact
    @wraps(known)
    def of_all(function: Function) -> tuple[_T, ...]:
        return tuple(chain.from_iterable(known(function).results))

    @wraps(known)
    def of_woken(function: Function) -> tuple[_T, ...]:
        return of_all(function) if function_wakes(function) & wake.bit else ()

    return of_woken
