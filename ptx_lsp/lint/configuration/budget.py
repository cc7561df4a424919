"""Budgets: limits for kernels, such as `registers <= 128`, `occupancy >= 50 %` or `spills == 0`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.configuration.selection import OVER_BUDGET, did_you_mean
from ptx_lsp.lint.results.report import Kernel, Locator, Reported
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from typing import TypeAlias

    from ptx_lsp.model.module import Module

Says: TypeAlias = Literal["exact", "estimated", "measured"]
Value: TypeAlias = "tuple[float, Says] | None"


class BudgetError(ValueError):
    """A text that is not a valid budget; the message gives a valid form."""


class Budget(NamedTuple):
    """A limit on one metric, in bytes for memory, percent for occupancy, else a count."""

    text: str
    figure: str
    comparison: str
    limit: float
    says: Says | None = None
    """Uses only a figure of this kind; None uses the best available."""

    def holds(self, value: float) -> bool:
        return _COMPARISONS[self.comparison](value, self.limit)


class OverBudget(NamedTuple):
    """A kernel and the budget that it exceeds, or that could not be checked (`value` None)."""

    kernel: Kernel
    pattern: str
    budget: Budget
    value: Value


Budgets: TypeAlias = tuple[tuple[str, tuple[Budget, ...]], ...]
"""Budgets by kernel name pattern."""


def parse(text: str) -> Budget:
    """The budget in a text. Raises BudgetError."""
    match = _BUDGET.fullmatch(text)
    if match is None:
        raise BudgetError(
            f"`{text}` is not a budget; expected one such as `registers <= 128` "
            "or `occupancy >= 50 %`"
        )
    says, name, comparison, number, unit = match.groups()
    figure = FIGURES.get(name)
    if figure is None:
        near = did_you_mean(name, FIGURES) or f"; expected `{'`, `'.join(FIGURES)}`"
        raise BudgetError(f"`{text}`: unknown figure `{name}`{near}")
    units = _UNITS[figure.unit]
    if unit not in units:
        listed = ", ".join(f"`{one}`" for one in units if one)
        allowed = f"in {listed}" if listed else "without a unit"
        raise BudgetError(f"`{text}`: `{name}` must be given {allowed}, not in `{unit}`")
    if says is not None and says not in figure.says:
        raise BudgetError(f"`{text}`: `{name}` is {' or '.join(figure.says)}, never {says}")
    wanted: Says | None = "measured" if says == "measured" else "estimated" if says else None
    return Budget(" ".join(text.split()), name, comparison, float(number) * units[unit], wanted)


def broken(kernels: Iterable[Kernel], budgets: Budgets) -> Iterator[OverBudget]:
    """The exceeded budgets of kernels, and the budgets that cannot be checked."""
    from fnmatch import fnmatchcase  # only where there are budgets

    for kernel in kernels:
        for pattern, limits in budgets:
            if fnmatchcase(kernel.name, pattern):
                for budget in limits:
                    value = FIGURES[budget.figure].of(kernel, budget.says)
                    if value is None or not budget.holds(value[0]):
                        yield OverBudget(kernel, pattern, budget, value)


def idle(budgets: Budgets, names: Collection[str]) -> list[str]:
    """The patterns that match none of these kernel names, except `*`, which matches all kernels."""
    from fnmatch import fnmatchcase

    return [
        pattern
        for pattern, _ in budgets
        if pattern != "*" and not any(fnmatchcase(name, pattern) for name in names)
    ]


def reported(found: Iterable[OverBudget], module: Module) -> Iterator[Reported]:
    """The findings: each points to the name of its kernel."""
    locate = Locator(module.document.source)
    places = {function.name: function.symbol.place for function in module.functions}
    for one in found:
        if one.value is not None:
            mark = locate.mark(module.span(places[one.kernel.name]))
            yield Reported(
                OVER_BUDGET, OVER_BUDGET, "error", _message(one), mark, function=one.kernel.name
            )


def unchecked(found: Iterable[OverBudget]) -> list[str]:
    """The reasons why budgets could not be checked, without duplicates."""
    reasons: dict[str, int] = {}
    for one in found:
        if one.value is None:
            figure = FIGURES[one.budget.figure]
            asks = "--ptxas measures it" if "measured" in figure.says else "its value is unknown"
            text = f"the budget `{one.budget.text}` was not checked"
            reasons.setdefault(f"{text}: {asks}", 0)
    return list(reasons)


def _message(one: OverBudget) -> str:
    assert one.value is not None
    value, says = one.value
    figure = FIGURES[one.budget.figure]
    shown = f"{value:g}{_SHOWN[figure.unit]}"
    extent = ""
    if one.budget.figure == "registers" and says == "estimated":
        extent = f", {one.kernel.registers.low} to {one.kernel.registers.high}"
    whose = "" if one.pattern == "*" else f" for `{one.pattern}`"
    return (
        f"`{one.kernel.name}` has {one.budget.figure} {shown} ({says}{extent}), "
        f"over its budget{whose}: `{one.budget.text}`"
    )


class Figure(NamedTuple):
    """A metric of kernels that can have a budget."""

    unit: Literal["count", "bytes", "percent"]
    says: tuple[Says, ...]
    of: Callable[[Kernel, Says | None], Value]


def _registers(kernel: Kernel, says: Says | None) -> Value:
    measured, estimate = kernel.registers.measured, kernel.registers.estimate
    if measured is not None and says != "estimated":
        return measured, "measured"
    return (estimate, "estimated") if estimate is not None and says != "measured" else None


def _occupancy(kernel: Kernel, says: Says | None) -> Value:
    """As good as the number of registers that it rests on."""
    percent, source = kernel.occupancy.percent, kernel.occupancy.registers_source
    rests_on: Says = "measured" if source == "measured" else "estimated"
    return (percent, rests_on) if percent is not None and says in (None, rests_on) else None


def _shared(kernel: Kernel, says: Says | None) -> Value:
    measured = kernel.measured.shared_bytes if kernel.measured is not None else None
    if measured is not None:
        return measured, "measured"
    return _exact(kernel.shared_bytes) if says is None else None


def _spills(kernel: Kernel, says: Says | None) -> Value:
    known = kernel.measured
    if known is None or known.spill_store_bytes is None or known.spill_load_bytes is None:
        return None
    return known.spill_store_bytes + known.spill_load_bytes, "measured"


def _stack(kernel: Kernel, says: Says | None) -> Value:
    bytes_ = kernel.measured.stack_bytes if kernel.measured is not None else None
    return (bytes_, "measured") if bytes_ is not None else None


def _local(kernel: Kernel, says: Says | None) -> Value:
    return _exact(kernel.local_bytes)


def _parameters(kernel: Kernel, says: Says | None) -> Value:
    return _exact(kernel.parameter_bytes)


def _divergent(kernel: Kernel, says: Says | None) -> Value:
    return _exact(kernel.branches.divergent)


def _exact(value: float | None) -> Value:
    return (value, "exact") if value is not None else None


FIGURES: dict[str, Figure] = {
    "registers": Figure("count", ("estimated", "measured"), _registers),
    "occupancy": Figure("percent", ("estimated", "measured"), _occupancy),
    "shared": Figure("bytes", ("exact", "measured"), _shared),
    "local": Figure("bytes", ("exact",), _local),
    "parameters": Figure("bytes", ("exact",), _parameters),
    "spills": Figure("bytes", ("measured",), _spills),
    "stack": Figure("bytes", ("measured",), _stack),
    "divergent-branches": Figure("count", ("exact",), _divergent),
}
"""Every metric by its name in a budget."""
_UNITS: dict[str, dict[str, int]] = {
    "count": {"": 1},
    "percent": {"%": 1, "": 1},
    "bytes": {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20},
}
_SHOWN = {"count": "", "percent": " %", "bytes": " bytes"}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq,
}
_BUDGET = lazy_pattern(
    r"\s*(?:(measured|estimated)\s+)?([a-z-]+)\s*(<=|>=|==|<|>)\s*(\d+(?:\.\d+)?)\s*([A-Za-z%]*)\s*"
)
