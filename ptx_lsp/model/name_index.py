"""A reverse index: the functions that use a name of their module."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple


class NameIndex(NamedTuple):
    """Functions by index. `of` has the functions that use a name without declaring it, `lacking` the
    functions with an undeclared name.
    """

    users: Mapping[str, frozenset[int]]
    with_undeclared: frozenset[int]

    @classmethod
    def build(cls, functions: Sequence[Function]) -> NameIndex:
        found: dict[str, set[int]] = {}
        for number, function in enumerate(functions):
            for name in function.free:
                found.setdefault(name, set()).add(number)
        lacking = frozenset(number for number, one in enumerate(functions) if one.undeclared)
        return cls({name: frozenset(numbers) for name, numbers in found.items()}, lacking)

    def using(self, names: Iterable[str]) -> frozenset[int]:
        """The functions that use at least one of the names."""
        return frozenset[int]().union(*(self.users.get(name, ()) for name in names))

    def updated(self, before: Sequence[Function], new: Mapping[int, Function]) -> NameIndex:
        """The index after some functions were replaced; `before` are the old ones."""
        of = dict(self.users)
        for number, function in new.items():
            used, uses = before[number].free.keys(), function.free.keys()
            for name in used - uses:
                of[name] -= {number}
                if not of[name]:
                    del of[name]
            for name in uses - used:
                of[name] = of.get(name, frozenset()) | {number}
        lacking = frozenset(number for number, one in new.items() if one.undeclared)
        return NameIndex(of, self.with_undeclared - new.keys() | lacking)
