"""Memoised, incrementally updated queries about functions.

A fact is a function of a `Function`. Its value is valid as long as neither that function nor the parts of the
module that it uses change. A new version of the file takes it over (`Module`). Whitespace and comments
between statements matter only to a `text_fact`. After any other edit inside the function, the fact is
computed again from the valid part of its previous value:

- an `instruction_fact` is recomputed only for edited instructions, as are the facts about some instructions
  of `model/instructions/woken_facts.py`;
- a `directive_fact` is unchanged if no directive was edited;
- an `incremental_fact` receives its previous value and decides which part to keep;
- a `GenerationalCache` keeps results by keys that contain everything they depend on, such as the instructions
  of a block, as long as each version asks for them.

A `module_fact` is about a module. It is valid for one version of it.

Two threads may compute a fact at the same time, both from the same previous value. All threads see the result
that was stored first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain
from operator import is_not

from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import DIRECTIVE_FACTS, INCREMENTAL_FACTS, TEXT_FACTS, Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Generic, TypeVar, cast
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from ptx_lsp.model.module_scope import ModuleScope

_K = TypeVar("_K")
_T = TypeVar("_T")
_C = TypeVar("_C", bound=Callable[..., object])


class Previous(NamedTuple, Generic[_T]):
    """The previous value of a fact, and how the instructions have changed since. Instructions outside the
    change are the same objects, and all names in them refer to the same symbols.
    """

    value: _T
    change: InstructionRangeEdit


def fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once per function."""

    @wraps(compute)
    def known(function: Function) -> _T:
        try:
            return cast(_T, function.facts[compute])
        except KeyError:
            return cast(_T, function.facts.setdefault(compute, compute(function)))

    return known


def module_fact(compute: _C) -> _C:
    """Makes `compute` run once per version of a module, for all values of its other parameters."""

    @wraps(compute)
    def known(module: ModuleScope, *others: object) -> object:
        key = (compute, *others)
        try:
            return module.facts[key]
        except KeyError:
            return module.facts.setdefault(key, compute(module, *others))

    return cast(_C, known)


SMALL_FACTS: set[object] = set()
"""The facts that the server keeps for all functions of open files, by their keys."""


def small(compute: _C) -> _C:
    """Marks the function of a fact whose value is small, and that is asked for about all functions of a file.
    The value must hold no object of another fact.
    """
    SMALL_FACTS.add(compute)
    return compute


def text_fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once per text of a function. Only a text fact may depend on the text between
    statements and on positions, counted from the start of the function.
    """
    TEXT_FACTS.add(compute)
    return fact(compute)


def is_computed(known: Callable[[Function], object], function: Function) -> bool:
    """Whether a fact of `function` has been computed already."""
    return getattr(known, "__wrapped__", None) in function.facts


class GenerationalCache(Generic[_K, _T]):
    """A cache of two generations: the keys asked for in this revision, and those of the previous one."""

    def __init__(self, before: GenerationalCache[_K, _T] | None = None) -> None:
        self._previous = before._current if before is not None else {}
        self._current: dict[_K, _T] = {}

    def get(self, key: _K) -> _T | None:
        """The value of `key`, which is then also kept for the next revision."""
        found = self._current.get(key)
        if found is None:
            found = self._previous.get(key)
            if found is not None:
                self._current[key] = found
        return found

    @property
    def is_empty(self) -> bool:
        return not self._current and not self._previous

    def put(self, key: _K, value: _T) -> _T:
        self._current[key] = value
        return value

    def update(self, found: dict[_K, _T]) -> None:
        """Keeps several values for the next revision."""
        self._current.update(found)


def incremental_fact(
    compute: Callable[[Function, Previous[_T] | None], _T],
) -> Callable[[Function], _T]:
    """Makes `compute` run once per function, with its previous value and the edit if available."""

    @wraps(compute)
    def known(function: Function) -> _T:
        try:
            return cast(_T, function.facts[compute])
        except KeyError:
            pass
        earlier = function.previous_facts.get(compute)
        if earlier is not None:
            try:
                value = compute(function, Previous(cast(_T, earlier[0]), earlier[1]))
            except Exception:
                if function.previous_facts.pop(compute, None) is not None:
                    raise
            else:
                if compute in function.previous_facts or compute in function.facts:
                    value = cast(_T, function.facts.setdefault(compute, value))
                    function.previous_facts.pop(compute, None)  # not before: others begin with the same
                    return value
            # Another thread has moved that value to a newer version. The inputs of this fact may have been
            # computed without it, so they do not match the previous value.
        return cast(_T, function.facts.setdefault(compute, compute(function, None)))

    INCREMENTAL_FACTS.add(compute)
    return known


def directive_fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once for all revisions of a function that have the same directives.

    It may depend on the head of the function, on the directives in it (`Body.directives`), on the symbols
    that these name, and on the version and target of the module. If it is a tuple of results, whether it is
    empty must not depend on plain names and the numbers of registers (`directive_shape.py`).
    """
    DIRECTIVE_FACTS.add(compute)
    return fact(compute)


class InstructionResults(NamedTuple, Generic[_T]):
    """Results for some instructions of a function: their `indices`, in order, and the `results` for each."""

    indices: tuple[int, ...]
    results: tuple[tuple[_T, ...], ...]

    def spliced(self, change: InstructionRangeEdit, found: InstructionResults[_T]) -> InstructionResults[_T]:
        """The results after a change, given those of the new instructions."""
        first = bisect_left(self.indices, change.first)
        behind = bisect_left(self.indices, change.old_end, first)
        numbers = self.indices[behind:]
        if change.growth:
            numbers = tuple([number + change.growth for number in numbers])
        return InstructionResults(
            (*self.indices[:first], *found.indices, *numbers),
            (*self.results[:first], *found.results, *self.results[behind:]),
        )


    def within(self, first: int, end: int) -> InstructionResults[_T]:
        """The results for the instructions from `first` up to `end` (exclusive)."""
        some = slice(bisect_left(self.indices, first), bisect_left(self.indices, end))
        return InstructionResults(self.indices[some], self.results[some])

    def replaced(self, others: dict[int, tuple[_T, ...]]) -> InstructionResults[_T]:
        """These results, with others (or none) for some instructions."""
        if not others:
            return self
        found = {**dict(zip(self.indices, self.results, strict=True)), **others}
        numbers = tuple([number for number in sorted(found) if found[number]])
        return InstructionResults(numbers, tuple([found[number] for number in numbers]))


def collect_over_results(
    known: Callable[[Function], InstructionResults[_K]],
) -> Callable[[Callable[[Function, _K], Iterable[_T]]], Callable[[Function], tuple[_T, ...]]]:
    """Makes a function run once per result of another fact for an instruction; the fact is everything that it
    finds, in order. It may depend on that result and on the inputs of an `instruction_fact`.
    """

    def decorate(
        find: Callable[[Function, _K], Iterable[_T]],
    ) -> Callable[[Function], tuple[_T, ...]]:
        @incremental_fact
        @wraps(find)
        def of_each(
            function: Function, earlier: Previous[_DerivedResults[_K, _T]] | None
        ) -> _DerivedResults[_K, _T]:
            things = known(function).results
            before = earlier.value if earlier is not None else _DerivedResults[_K, _T]((), ())
            first = _common_prefix(before.inputs, things)
            last = _common_prefix(before.inputs[first:][::-1], things[first:][::-1])
            found = [
                tuple([one for thing in parts for one in find(function, thing)])
                for parts in things[first : len(things) - last]
            ]
            behind = before.results[len(before.results) - last :]
            return _DerivedResults(things, (*before.results[:first], *found, *behind))

        @fact
        @wraps(find)
        def of_all(function: Function) -> tuple[_T, ...]:
            return tuple(chain.from_iterable(of_each(function).results))

        @wraps(find)
        def of_some(function: Function) -> tuple[_T, ...]:
            has_inputs = function.body.instructions and known(function).results
            return of_all(function) if has_inputs else ()

        return of_some

    return decorate


class _DerivedResults(NamedTuple, Generic[_K, _T]):
    """The results of another fact, and the results derived from them, per instruction."""

    inputs: tuple[tuple[_K, ...], ...]
    results: tuple[tuple[_T, ...], ...]


def _common_prefix(one: tuple[object, ...], other: tuple[object, ...]) -> int:
    """The length of the common prefix of identical objects."""
    differ = map(is_not, one, other)
    return next((n for n, differs in enumerate(differ) if differs), min(len(one), len(other)))


class GroupedResults(NamedTuple, Generic[_K, _T]):
    """The results of all instructions grouped by key, unordered; and those of each instruction."""

    groups: dict[_K, tuple[_T, ...]]
    by_instruction: tuple[tuple[tuple[_K, _T], ...], ...]

    def changed_keys(self, earlier: Previous[GroupedResults[_K, _T]]) -> set[_K]:
        """The keys of the instructions that an edit touched, before or after it."""
        before, (first, old_end, end) = earlier
        pairs = chain(before.by_instruction[first:old_end], self.by_instruction[first:end])
        return {key for key, _ in chain.from_iterable(pairs)}


def grouped_fact(
    find: Callable[[Function, int], Iterable[tuple[_K, _T]]],
) -> Callable[[Function], GroupedResults[_K, _T]]:
    """Makes `find` run once per instruction, with its index, to give its results by key. It may depend on
    that index and on the inputs of an `instruction_fact`.
    """

    @incremental_fact
    @wraps(find)
    def of_all(
        function: Function, earlier: Previous[GroupedResults[_K, _T]] | None
    ) -> GroupedResults[_K, _T]:
        if earlier is None:
            numbers = range(len(function.body.instructions))
            each = tuple([tuple(find(function, number)) for number in numbers])
            lists: dict[_K, list[_T]] = {}
            for key, value in chain.from_iterable(each):
                lists.setdefault(key, []).append(value)
            return GroupedResults({key: tuple(values) for key, values in lists.items()}, each)
        before, (first, old_end, end) = earlier
        added = [tuple(find(function, number)) for number in range(first, end)]
        of = dict(before.groups)
        for key, value in chain.from_iterable(before.by_instruction[first:old_end]):
            left = list(of.pop(key))
            left.remove(value)
            if left:
                of[key] = tuple(left)
        for key, value in chain.from_iterable(added):
            of[key] = (*of.get(key, ()), value)
        return GroupedResults(of, (*before.by_instruction[:first], *added, *before.by_instruction[old_end:]))

    return _of_instructions(of_all, GroupedResults[_K, _T]({}, ()))


def instruction_fact(
    compute: Callable[[Function, nodes.Instruction], _T],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `compute` run once per instruction; the fact is its results, in order.

    It may depend only on the instruction itself, on the symbols that it names, on the head of the function,
    and on the version and target of the module.
    """

    @incremental_fact
    @wraps(compute)
    def of_all(function: Function, earlier: Previous[tuple[_T, ...]] | None) -> tuple[_T, ...]:
        instructions = function.body.instructions
        if earlier is None:
            return tuple([compute(function, one) for one in instructions])
        value, (first, old_end, end) = earlier
        changed = [compute(function, one) for one in instructions[first:end]]
        return (*value[:first], *changed, *value[old_end:])

    return _of_instructions(of_all, ())


def _of_instructions(known: Callable[[Function], _T], nothing: _T) -> Callable[[Function], _T]:
    """An instruction fact that returns `nothing` for a function without instructions: a file may have many
    prototypes, for which nothing is stored.
    """

    @wraps(known)
    def of_all(function: Function) -> _T:
        return known(function) if function.body.instructions else nothing

    return of_all
