"""Facts about functions: computed when first asked for, shared, and kept while they stay true.

A fact is a function of a `Function`. Its value lives as long as neither that function nor what it uses
of its module changes; a new version of the file takes it over (`Module`). After an edit inside the
function it is computed again, from what is still true of its value before:

- of an `instruction_fact`, or what is `found_in_instructions`, all stays but what concerns instructions
  that were touched;
- a `lasting_fact` is given its value before, and says itself what of that can stay;
- a `Memory` keeps what was computed from keys that hold all it depends on, such as the contents of a
  block of code, for as long as some version in a row asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from ptx_lsp.model.body_change import Change
from ptx_lsp.model.function import LASTING, Function
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from ptx_lsp.model.module import Module

_K = TypeVar("_K")
_T = TypeVar("_T")


class Earlier(NamedTuple, Generic[_T]):
    """A fact about a function as it was, and how its instructions have changed since. Those outside of the
    change are the same objects, and all names in them stand for the same things.
    """

    value: _T
    change: Change


def fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once for each function."""

    @wraps(compute)
    def known(function: Function) -> _T:
        try:
            return cast(_T, function.facts[compute])
        except KeyError:
            value = function.facts[compute] = compute(function)
            return value

    return known


def of_all(known: Callable[[Function], tuple[_T, ...]], module: Module) -> Iterator[_T]:
    """What a fact has for all functions of a module, one after the other. After an edit it is asked for
    those only that are not what they were; what it has for the others is kept.
    """
    found = module.gathered.get(known)
    if found is None:
        found = module.gathered[known] = _gathered(known, module)
    return chain.from_iterable(cast("Iterable[tuple[_T, ...]]", found.values()))


def _gathered(
    known: Callable[[Function], tuple[object, ...]], module: Module
) -> dict[int, tuple[object, ...]]:
    """What a fact has for each function, by its number, where that is anything."""
    before, touched = module.gathered_before.get(known, ({}, range(len(module.functions))))
    found = dict(before)
    for number in touched:
        value = known(module.functions[number])
        if value:
            found[number] = value
        else:
            found.pop(number, None)
    return dict(sorted(found.items()))


def is_known(known: Callable[[Function], object], function: Function) -> bool:
    """Whether a fact of `function` has been computed already."""
    return getattr(known, "__wrapped__", None) in function.facts


class Memory(Generic[_K, _T]):
    """What was computed from some keys: those asked for in this version, and those of the version before."""

    def __init__(self, before: Memory[_K, _T] | None = None) -> None:
        self._before = before._known if before is not None else {}
        self._known: dict[_K, _T] = {}

    def get(self, key: _K) -> _T | None:
        """What is known of `key`; it will be known in the next version too."""
        found = self._known.get(key)
        if found is None:
            found = self._before.get(key)
            if found is not None:
                self._known[key] = found
        return found

    def put(self, key: _K, value: _T) -> _T:
        self._known[key] = value
        return value


def lasting_fact(
    compute: Callable[[Function, Earlier[_T] | None], _T],
) -> Callable[[Function], _T]:
    """Makes `compute` run once for each function, with what it gave before an edit, if that is of use."""

    @wraps(compute)
    def known(function: Function) -> _T:
        try:
            return cast(_T, function.facts[compute])
        except KeyError:
            earlier = function.earlier.pop(compute, None)
            before = None if earlier is None else Earlier(cast(_T, earlier[0]), earlier[1])
            value = function.facts[compute] = compute(function, before)
            return value

    LASTING.add(compute)
    return known


def found_in_instructions(
    find: Callable[[Function, nodes.Instruction], Iterable[_T]],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `find` run once for each instruction; the fact is all that it finds, in order. It may depend on
    what an `instruction_fact` may depend on.
    """

    @instruction_fact
    @wraps(find)
    def of_each(function: Function, instruction: nodes.Instruction) -> tuple[_T, ...]:
        return tuple(find(function, instruction))

    @fact
    @wraps(find)
    def of_all(function: Function) -> tuple[_T, ...]:
        return tuple(chain.from_iterable(of_each(function)))

    return of_all


def instruction_fact(
    compute: Callable[[Function, nodes.Instruction], _T],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `compute` run once for each instruction; the fact is what it gives for all, in order.

    It may depend on the instruction itself, on what the names in it stand for, on the version and target
    of the module and on the head of the function, and on nothing else.
    """

    @lasting_fact
    @wraps(compute)
    def of_all(function: Function, earlier: Earlier[tuple[_T, ...]] | None) -> tuple[_T, ...]:
        instructions = function.body.instructions
        if earlier is None:
            return tuple([compute(function, node) for node, _ in instructions])
        value, (first, old_end, end) = earlier
        changed = [compute(function, node) for node, _ in instructions[first:end]]
        return (*value[:first], *changed, *value[old_end:])

    return of_all
