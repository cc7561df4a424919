"""Facts about functions: computed when first asked for, shared, and kept while they stay true.

A fact is a function of a `Function`. Its value lives as long as neither that function nor what it uses
of its module changes; a new version of the file takes it over (`Module`). Spaces and comments between
statements are no matter, but to a `text_fact`. After any other edit inside the function it is computed
again, from what is still true of its value before:

- of an `instruction_fact`, or what is `found_in_instructions`, all stays but what concerns instructions
  that were touched;
- a `directive_fact` stays as it is where no directive was touched;
- a `lasting_fact` is given its value before, and says itself what of that can stay;
- a `Memory` keeps what was computed from keys that hold all it depends on, such as the contents of a
  block of code, for as long as some version in a row asks for it.

Two threads may compute a fact at the same time, both from the same value before; what the first of them
has found is what all see.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import chain
from operator import is_not
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar, cast

from ptx_lsp.model.body_change import Change
from ptx_lsp.model.function import LASTING, OF_DIRECTIVES, OF_TEXT, Function
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
            return cast(_T, function.facts.setdefault(compute, compute(function)))

    return known


def text_fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once for each text of a function. It alone may depend on what is between statements
    and on where they are, counted from the start of the function.
    """
    OF_TEXT.add(compute)
    return fact(compute)


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
) -> dict[int, object]:
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
            pass
        earlier = function.earlier.get(compute)
        if earlier is not None:
            try:
                value = compute(function, Earlier(cast(_T, earlier[0]), earlier[1]))
            except Exception:
                if function.earlier.pop(compute, None) is not None:
                    raise
            else:
                if compute in function.earlier or compute in function.facts:
                    value = cast(_T, function.facts.setdefault(compute, value))
                    function.earlier.pop(compute, None)  # not before: others begin with the same
                    return value
            # Another thread has taken that over to a newer version: what this fact is made from may have been
            # computed without, and then does not go with what this one was before.
        return cast(_T, function.facts.setdefault(compute, compute(function, None)))

    LASTING.add(compute)
    return known


def directive_fact(compute: Callable[[Function], _T]) -> Callable[[Function], _T]:
    """Makes `compute` run once for all versions of a function that have the same directives.

    It may depend on the head of the function, on the directives in it (`Body.directives`), on what the names
    in those stand for, on the version and target of the module, and on nothing else.
    """
    OF_DIRECTIVES.add(compute)
    return fact(compute)


class Found(NamedTuple, Generic[_T]):
    """What is found in the instructions of a function: of those with anything their `numbers`, in order, and
    `of` each what it is.
    """

    numbers: tuple[int, ...]
    of: tuple[tuple[_T, ...], ...]

    def after(self, change: Change, found: Found[_T]) -> Found[_T]:
        """All of it after a change, where this is `found` in the instructions that are new."""
        first = bisect_left(self.numbers, change.first)
        behind = bisect_left(self.numbers, change.old_end, first)
        numbers = self.numbers[behind:]
        if change.growth:
            numbers = tuple([number + change.growth for number in numbers])
        return Found(
            (*self.numbers[:first], *found.numbers, *numbers),
            (*self.of[:first], *found.of, *self.of[behind:]),
        )


    def between(self, first: int, end: int) -> Found[_T]:
        """What is found in the instructions from `first` to `end`, without that."""
        some = slice(bisect_left(self.numbers, first), bisect_left(self.numbers, end))
        return Found(self.numbers[some], self.of[some])

    def but_for(self, others: dict[int, tuple[_T, ...]]) -> Found[_T]:
        """The same but for some instructions, in which something else is found, or nothing."""
        if not others:
            return self
        found = {**dict(zip(self.numbers, self.of, strict=True)), **others}
        numbers = tuple([number for number in sorted(found) if found[number]])
        return Found(numbers, tuple([found[number] for number in numbers]))


def numbered(find: Callable[[Function, int], Iterable[_T]]) -> Callable[[Function], Found[_T]]:
    """Makes `find` run once for each instruction, with its number. Apart from that number, it may depend on
    what an `instruction_fact` may depend on.
    """

    @wraps(find)
    def between(function: Function, first: int, end: int) -> Found[_T]:
        return _found((number, tuple(find(function, number))) for number in range(first, end))

    return _kept(between)


def found_in_instructions(
    find: Callable[[Function, nodes.Instruction], Iterable[_T]],
) -> Callable[[Function], tuple[_T, ...]]:
    """Makes `find` run once for each instruction; the fact is all that it finds, in order. It may depend on
    what an `instruction_fact` may depend on.
    """

    @wraps(find)
    def between(function: Function, first: int, end: int) -> Found[_T]:
        instructions = enumerate(function.body.instructions[first:end], first)
        return _found((number, tuple(find(function, node))) for number, (node, _) in instructions)

    return listed(_kept(between))


def _kept(
    between: Callable[[Function, int, int], Found[_T]],
) -> Callable[[Function], Found[_T]]:
    """Makes `between` run for all instructions, and again for those that an edit touches."""

    @lasting_fact
    @wraps(between)
    def of_all(function: Function, earlier: Earlier[Found[_T]] | None) -> Found[_T]:
        if earlier is None:
            return between(function, 0, len(function.body.instructions))
        first, _, end = earlier.change
        return earlier.value.after(earlier.change, between(function, first, end))

    return _of_instructions(of_all, Found[_T]((), ()))


def _found(each: Iterable[tuple[int, tuple[_T, ...]]]) -> Found[_T]:
    found = [one for one in each if one[1]]
    return Found(tuple([number for number, _ in found]), tuple([parts for _, parts in found]))


def listed(known: Callable[[Function], Found[_T]]) -> Callable[[Function], tuple[_T, ...]]:
    """All that is found in instructions, in order."""

    @fact
    @wraps(known)
    def of_all(function: Function) -> tuple[_T, ...]:
        return tuple(chain.from_iterable(known(function).of))

    return _of_instructions(of_all, ())


def found_in(
    known: Callable[[Function], Found[_K]],
) -> Callable[[Callable[[Function, _K], Iterable[_T]]], Callable[[Function], tuple[_T, ...]]]:
    """Makes a function run once for each thing that another fact has found in an instruction; the fact is all
    that it finds, in order. It may depend on that thing, and on what an `instruction_fact` may depend on.
    """

    def decorate(
        find: Callable[[Function, _K], Iterable[_T]],
    ) -> Callable[[Function], tuple[_T, ...]]:
        @lasting_fact
        @wraps(find)
        def of_each(
            function: Function, earlier: Earlier[_FoundIn[_K, _T]] | None
        ) -> _FoundIn[_K, _T]:
            things = known(function).of
            before = earlier.value if earlier is not None else _FoundIn[_K, _T]((), ())
            first = _same(before.things, things)
            last = _same(before.things[first:][::-1], things[first:][::-1])
            found = [
                tuple([one for thing in parts for one in find(function, thing)])
                for parts in things[first : len(things) - last]
            ]
            behind = before.found[len(before.found) - last :]
            return _FoundIn(things, (*before.found[:first], *found, *behind))

        @fact
        @wraps(find)
        def of_all(function: Function) -> tuple[_T, ...]:
            return tuple(chain.from_iterable(of_each(function).found))

        return _of_instructions(of_all, ())

    return decorate


class _FoundIn(NamedTuple, Generic[_K, _T]):
    """What is found in the things of each instruction."""

    things: tuple[tuple[_K, ...], ...]
    found: tuple[tuple[_T, ...], ...]


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> int:
    """How many are the same objects from the beginning on."""
    differ = map(is_not, one, other)
    return next((n for n, differs in enumerate(differ) if differs), min(len(one), len(other)))


class Indexed(NamedTuple, Generic[_K, _T]):
    """What all instructions together have for a key, in no order; and each by itself."""

    of: dict[_K, tuple[_T, ...]]
    each: tuple[tuple[tuple[_K, _T], ...], ...]

    def touched(self, earlier: Earlier[Indexed[_K, _T]]) -> set[_K]:
        """The keys that instructions have or had which an edit touched."""
        before, (first, old_end, end) = earlier
        pairs = chain(before.each[first:old_end], self.each[first:end])
        return {key for key, _ in chain.from_iterable(pairs)}


def indexed(
    find: Callable[[Function, int], Iterable[tuple[_K, _T]]],
) -> Callable[[Function], Indexed[_K, _T]]:
    """Makes `find` run once for each instruction, with its number, to tell what it has for which keys. Apart
    from that number, it may depend on what an `instruction_fact` may depend on.
    """

    @lasting_fact
    @wraps(find)
    def of_all(
        function: Function, earlier: Earlier[Indexed[_K, _T]] | None
    ) -> Indexed[_K, _T]:
        if earlier is None:
            numbers = range(len(function.body.instructions))
            each = tuple([tuple(find(function, number)) for number in numbers])
            lists: dict[_K, list[_T]] = {}
            for key, value in chain.from_iterable(each):
                lists.setdefault(key, []).append(value)
            return Indexed({key: tuple(values) for key, values in lists.items()}, each)
        before, (first, old_end, end) = earlier
        added = [tuple(find(function, number)) for number in range(first, end)]
        of = dict(before.of)
        for key, value in chain.from_iterable(before.each[first:old_end]):
            left = list(of.pop(key))
            left.remove(value)
            if left:
                of[key] = tuple(left)
        for key, value in chain.from_iterable(added):
            of[key] = (*of.get(key, ()), value)
        return Indexed(of, (*before.each[:first], *added, *before.each[old_end:]))

    return _of_instructions(of_all, Indexed[_K, _T]({}, ()))


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

    return _of_instructions(of_all, ())


def _of_instructions(known: Callable[[Function], _T], nothing: _T) -> Callable[[Function], _T]:
    """The same fact, which is `nothing` where there are no instructions: a file may have many prototypes, for
    which nothing is kept.
    """

    @wraps(known)
    def of_all(function: Function) -> _T:
        return known(function) if function.body.instructions else nothing

    return of_all
