"""The `Operation` that meanings are given: one instruction, over lanes that are not known yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ptx_lsp.executor.arithmetic import integers as lanes
from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.integers import Integers
from ptx_lsp.executor.arithmetic.reals import Reals, Rounding
from ptx_lsp.executor.machine.memory import CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW
from ptx_lsp.executor.machine.register_file import RegisterLayout
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import Kind, Type

_FLUSHED = frozenset({".ftz"})
_WINDOWS = {
    ".const": CONST_WINDOW, ".shared": SHARED_WINDOW, ".local": LOCAL_WINDOW, ".param": PARAM_WINDOW,
}


class Symbolic(Rounding):
    """See `ptx_lsp.isa.schema.meaning.Operation`."""

    def __init__(
        self, choices: Choices, type: Type, result: str, frame: RegisterLayout, emitter: Emitter,
        selectors: Mapping[str, str], minus: Collection[str], *, flushes: bool = False,
    ) -> None:
        """`type` is that of the form, `result` the format of a float result. By name, `selectors` has what is
        written behind operands, `minus` those negated. `flushes`: as if `.ftz` were written.
        """
        super().__init__(emitter, choices.modifiers | _FLUSHED if flushes else choices.modifiers, result)
        self._converts = "atype" in choices
        self._choices = choices
        self._type = type
        self._frame = frame
        self._selectors = selectors
        self._minus = minus
        self.carried: Integers | None = None
        """The new condition code; None if it is unchanged."""

    @property
    def width(self) -> int:
        return self._type.width // self._type.lanes

    @property
    def signed(self) -> bool:
        name = self._type.name
        return self._type.kind is Kind.SIGNED or (self._type.lanes > 1 and name.startswith(".s"))

    def has(self, modifier: str) -> bool:
        return modifier in self._choices.modifiers

    def slot(self, name: str) -> str:
        return self._choices[name]

    def selector(self, name: str) -> str:
        return self._selectors.get(name, "")

    def negated(self, name: str) -> bool:
        return name in self._minus

    def wrap(self, value: Integers | int) -> Integers:
        return lanes.wrap(lanes.integers(value), self.width, self.signed)

    def clamp(self, value: Integers) -> Integers:
        return lanes.clamp(value, self.width, self.signed)

    def select(self, condition: Integers, yes: Integers | int, no: Integers | int) -> Integers:
        return lanes.select(condition, yes, no)

    def divide(self, a: Integers, b: Integers) -> Integers:
        return lanes.divide(a, b, self.width, self.signed)

    def remainder(self, a: Integers, b: Integers) -> Integers:
        return lanes.remainder(a, b)

    def ones(self, a: Integers) -> Integers:
        return lanes.ones(a)

    def highest(self, a: Integers) -> Integers:
        return lanes.highest(a)

    def window(self, space: str) -> int:
        return _WINDOWS.get(space.partition("::")[0], 0)

    def integer(self, value: Reals) -> Integers:
        return self.limited(value, *lanes.limits(self.width, self.signed))

    def carry(self) -> Integers:
        return lanes.register(self._frame.carry(), 1, signed=False)

    def special(self, name: str) -> Integers:
        return lanes.register(self._frame.special(name, ".u32"), 32, signed=False)

    def set_carry(self, value: Integers) -> None:
        if self.has(".cc"):
            self.carried = value
