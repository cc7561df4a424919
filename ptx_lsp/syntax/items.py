"""The top-level statements of a file, in blocks. An edit changes one block and moves the blocks after it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import is_not

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import overload
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.item import Item

_MOST_ITEMS = 32
"""The maximum number of items in a block."""


class _Block(NamedTuple):
    """Consecutive statements, stored `shift` bytes before their current position."""

    items: tuple[Item, ...]
    shift: int
    nodes: tuple[nodes.Statement, ...]
    """The nodes of the statements. It is the same object as long as all nodes are."""
    is_broken: bool
    """Whether one of the statements has problems."""

    @classmethod
    def of(cls, items: Sequence[Item]) -> _Block:
        is_broken = any(item.problems for item in items)
        return cls(tuple(items), 0, tuple([item.node for item in items]), is_broken)

    @property
    def start(self) -> int:
        return self.items[0].start + self.shift

    def moved(self, by: int) -> _Block:
        return self._replace(shift=self.shift + by)


class Items(Sequence[Item]):
    """The statements in order, immutable. In one text, each is always the same object.

    Moving the statements after an edit costs nothing until they are requested.
    """

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._blocks = blocks
        self._firsts = [0, *accumulate([len(block.items) for block in blocks])]
        """The number of the first statement of each block, and how many there are."""
        self._placed: dict[int, tuple[Item, ...]] = {}
        """The statements of a moved block, at their current position."""

    @classmethod
    def of(cls, items: Iterable[Item]) -> Items:
        every = tuple(items)
        starts = range(0, len(every), _MOST_ITEMS)
        return cls([_Block.of(every[start : start + _MOST_ITEMS]) for start in starts])

    def __len__(self) -> int:
        return self._firsts[-1]

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple([self[number] for number in range(*index.indices(len(self)))])
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        block = bisect_right(self._firsts, number) - 1
        return self._of_block(block)[number - self._firsts[block]]

    def __iter__(self) -> Iterator[Item]:
        return chain.from_iterable(map(self._of_block, range(len(self._blocks))))

    def broken(self) -> Iterator[Item]:
        """The statements with problems."""
        for number, block in enumerate(self._blocks):
            if block.is_broken:
                yield from (item for item in self._of_block(number) if item.problems)

    def last_before(self, offset: int) -> int:
        """The index of the last statement that begins at or before `offset`; -1 if there is none."""
        block = bisect_right(self._blocks, offset, key=lambda one: one.start) - 1
        if block < 0:
            return -1
        items = self._of_block(block)
        return self._firsts[block] + bisect_right(items, offset, key=lambda one: one.start) - 1

    def replaced(self, number: int, item: Item) -> Items:
        """The items with `item` in place of the one that begins at the same offset. Later items move by its
        growth.
        """
        block = bisect_right(self._firsts, number) - 1
        items, at = self._of_block(block), number - self._firsts[block]
        growth = item.end - items[at].end
        new = _Block.of([*items[:at], item, *(one.moved(growth) for one in items[at + 1 :])])
        behind = [one.moved(growth) for one in self._blocks[block + 1 :]]
        return Items([*self._blocks[:block], new, *behind])

    def changed(self, before: Items) -> Iterator[int]:
        """The indices of the statements whose nodes differ from those in `before`, which has as many items.
        """
        if self._firsts != before._firsts:
            pairs = enumerate(zip(self, before, strict=True))
            yield from (number for number, (new, old) in pairs if new.node is not old.node)
            return
        for first, new, old in zip(self._firsts, self._blocks, before._blocks, strict=False):
            if new.nodes is not old.nodes:
                differ = map(is_not, new.nodes, old.nodes)
                yield from (first + index for index, differs in enumerate(differ) if differs)

    def _of_block(self, number: int) -> tuple[Item, ...]:
        """The statements of a block, at their current position."""
        block = self._blocks[number]
        if not block.shift:
            return block.items
        found = self._placed.get(number)
        if found is None:
            moved = tuple([item.moved(block.shift) for item in block.items])
            found = self._placed.setdefault(number, moved)  # another thread may have stored it first
        return found
