"""Wakes of rules about functions, and of facts about all functions of a module. Such a rule runs only for
functions that have what its wake requires, so it costs nothing where there is nothing to find.

A wake may be too wide, but never too narrow: the rule must find nothing in a function that does not wake it.
A wake is data, a set of bits of `function_features`, which are computed once per function. Without a wake, a
rule runs for every function. Rules about directives need none: they run until they have found nothing in a
function with the same directives (`directive_shape.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from ptx_lsp.facts import directive_fact
from ptx_lsp.model.directive_shape import DirectiveShape
from ptx_lsp.model.function import DIRECTIVE_FACTS, Function
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.instructions.wakes import WAKES, InstructionWake, function_wakes
from ptx_lsp.model.module import Module
from ptx_lsp.static_typing import TYPE_CHECKING, TypeVar, cast

if TYPE_CHECKING:
    from typing import Final

_T = TypeVar("_T")


class FunctionWake:
    """The features that a function must have: one of each of `masks`."""

    __slots__ = ("masks",)

    def __init__(self, masks: tuple[int, ...]) -> None:
        self.masks = masks

    def __and__(self, other: FunctionWake) -> FunctionWake:
        return FunctionWake((*self.masks, *other.masks))

    def __or__(self, other: FunctionWake) -> FunctionWake:
        return FunctionWake(tuple([mine | yours for mine in self.masks for yours in other.masks]))

    def wakes(self, features: int) -> bool:
        """Whether a pass with this wake has to look at a function with these features."""
        return all(mask & features for mask in self.masks)


ALWAYS: Final = FunctionWake(())


def opcodes(*names: str) -> FunctionWake:
    """An instruction with one of these opcodes, such as `bar`, with any modifiers."""
    return woken_by(InstructionWake(opcodes=names))


def woken_by(wake: InstructionWake) -> FunctionWake:
    """An instruction that satisfies `wake`."""
    if wake.bit not in _of_wakes:
        _of_wakes[wake.bit] = _new_bit()
        _of_instructions.clear()
    return FunctionWake((_of_wakes[wake.bit],))


def instruction_wake(bit: int) -> InstructionWake | None:
    """The condition on instructions that a bit stands for, if it does."""
    for one in WAKES:
        if _of_wakes.get(one.bit) == bit:
            return one
    return None


def having(condition: Callable[[Function], object]) -> FunctionWake:
    """A function of which `condition` is true. It is evaluated for every function, so it has to be cheap."""
    bit = _new_bit()
    _conditions[bit] = condition
    return FunctionWake((bit,))


def having_directives(condition: Callable[[Function], object]) -> FunctionWake:
    """A function of which `condition` is true. It may depend on what a directive fact may depend on, so it is
    evaluated once for all functions with the same directives.
    """
    bit = _new_bit()
    _directive_conditions[bit] = condition
    return FunctionWake((bit,))


_highest = 1
"""The bit after those of all wakes."""
_of_wakes: Final[dict[int, int]] = {}
"""The bits for conditions on instructions, by their bits in `function_wakes`."""
_of_instructions: Final[dict[int, int]] = {}
"""The bits for `function_wakes`."""
_MOST_KNOWN: Final = 10_000
_conditions: Final[dict[int, Callable[[Function], object]]] = {}
_directive_conditions: Final[dict[int, Callable[[Function], object]]] = {}


def _new_bit() -> int:
    global _highest
    _highest <<= 1
    return _highest >> 1


def function_features(function: Function) -> int:
    """The features of `function`, as a set of bits. The highest bit only says how many there are, because
    importing modules adds some.
    """
    found = function.features
    if found < _highest:
        wakes = function_wakes(function)
        known = _of_instructions.get(wakes)
        found = _features_of(wakes) if known is None else known
        found |= _highest | _of_directives(function) | _satisfied(function, _conditions)
        function.features = found
    return found


def _of_directives(function: Function) -> int:
    shape = directive_shape(function)
    if shape is None:
        return _satisfied(function, _directive_conditions)
    if shape.features < _highest:
        shape.features = _highest | _satisfied(function, _directive_conditions)
    return shape.features


def _satisfied(function: Function, conditions: dict[int, Callable[[Function], object]]) -> int:
    """The bits of the conditions that hold, or that fail: then the pass fails, by itself."""
    found = 0
    for bit, condition in conditions.items():
        try:
            if condition(function):
                found |= bit
        except Exception:
            found |= bit
    return found


def _features_of(wakes: int) -> int:
    if len(_of_instructions) >= _MOST_KNOWN:
        _of_instructions.clear()
    found = 0
    for bit, own in _of_wakes.items():
        if wakes & bit:
            found |= own
    _of_instructions[wakes] = found
    return found


FAILED_CHECKS: Final = having(checks)
"""An instruction that does not match the table."""
LINKED: Final = having(lambda function: function.linked)
"""A name of the module."""


# -- passes over directives ---------------------------------------------------------------------------


def directive_shape(function: Function) -> DirectiveShape | None:
    """The shape of its directives; None if their meaning depends on more."""
    if function.item.problems or function.item.is_unclosed:
        return None
    return _shape(function)


@directive_fact
def _shape(function: Function) -> DirectiveShape | None:
    return function.module.directive_shapes.of(function.node, function.body.directives)


def _directive_key(known: Callable[[Function], object]) -> object:
    """The key of a fact about directives; None for other facts."""
    key = getattr(known, "__wrapped__", None)
    return key if key in DIRECTIVE_FACTS else None


def _is_quiet(key: object, shape: DirectiveShape | None) -> bool:
    """Whether a pass found nothing in a function with the same directives."""
    return shape is not None and key is not None and key in shape.quiet


def _heard(
    known: Callable[[Function], tuple[object, ...]],
    function: Function,
    key: object,
    shape: DirectiveShape | None,
) -> tuple[object, ...]:
    """The results of a pass that is not quiet."""
    found = known(function)
    if not found and key is not None and shape is not None:
        shape.quiet.add(key)
    return found


# -- facts about all functions ------------------------------------------------------------------------


def collect_over_functions(
    known: Callable[[Function], tuple[_T, ...]], module: Module, wake: FunctionWake = ALWAYS
) -> Iterator[_T]:
    """The results of a fact for all functions of a module that wake it, concatenated. After an edit, only
    changed functions are queried again.
    """
    found = module.aggregates.get(known)
    if found is None:
        before = module.previous_aggregates.get(known)
        found = _of_all(known, module, wake) if before is None else _updated(known, module, wake, *before)
        module.aggregates[known] = found
    return chain.from_iterable(cast("Iterable[tuple[_T, ...]]", found.values()))


def _of_all(
    known: Callable[[Function], tuple[object, ...]], module: Module, wake: FunctionWake
) -> dict[int, object]:
    """The non-empty results of a fact, by the number of the function."""
    found: dict[int, object] = {}
    key, functions = _directive_key(known), module.functions
    for (features, shape), numbers in _groups(module).items():
        if wake.wakes(features):
            for number in numbers:
                if _is_quiet(key, shape):
                    break
                value = _heard(known, functions[number], key, shape)
                if value:
                    found[number] = value
    return dict(sorted(found.items()))


def _updated(
    known: Callable[[Function], tuple[object, ...]],
    module: Module,
    wake: FunctionWake,
    before: Mapping[int, object],
    touched: Sequence[int],
) -> dict[int, object]:
    found = dict(before)
    for number in touched:
        function = module.functions[number]
        value = known(function) if wake.wakes(function_features(function)) else ()
        if value:
            found[number] = value
        else:
            found.pop(number, None)
    return dict(sorted(found.items()))


def _groups(module: Module) -> dict[tuple[int, DirectiveShape | None], list[int]]:
    """The numbers of the functions with the same features and directives."""
    known = module.alike
    if known and next(iter(known))[0] >= _highest:
        return known
    found: dict[tuple[int, DirectiveShape | None], list[int]] = {}
    for number, function in enumerate(module.functions):
        alike = (function_features(function), directive_shape(function))
        found.setdefault(alike, []).append(number)
    module.alike = found
    return found
