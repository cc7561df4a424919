"""Which functions use which names of their module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ptx_lsp.model.function import Function


class Naming(NamedTuple):
    """Functions by their numbers. `of` has those that use a name which they do not declare, `lacking` those
    with a name that nothing declares.
    """

    of: Mapping[str, frozenset[int]]
    lacking: frozenset[int]

    @classmethod
    def of_all(cls, functions: Sequence[Function]) -> Naming:
        found: dict[str, set[int]] = {}
        for number, function in enumerate(functions):
            for name in function.free:
                found.setdefault(name, set()).add(number)
        lacking = frozenset(number for number, one in enumerate(functions) if one.undeclared)
        return cls({name: frozenset(numbers) for name, numbers in found.items()}, lacking)

    def using(self, names: Iterable[str]) -> frozenset[int]:
        """Those that use one of the names."""
        return frozenset[int]().union(*(self.of.get(name, ()) for name in names))

    def after(self, before: Sequence[Function], new: Mapping[int, Function]) -> Naming:
        """The same where there are some new ones in place of those `before`."""
        of = dict(self.of)
        for number, function in new.items():
            used, uses = before[number].free.keys(), function.free.keys()
            for name in used - uses:
                of[name] -= {number}
                if not of[name]:
                    del of[name]
            for name in uses - used:
                of[name] = of.get(name, frozenset()) | {number}
        lacking = frozenset(number for number, one in new.items() if one.undeclared)
        return Naming(of, self.lacking - new.keys() | lacking)
