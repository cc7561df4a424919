"""A top-level statement in its file."""

from __future__ import annotations

from bisect import bisect_left

from tree_sitter import Tree

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.stable_offsets import Located, OffsetMap
from ptx_lsp.text import Span


class Item:
    """A top-level statement, from byte `start` to `end` of the file; `marks` tells where the parts of
    `node` and the `problems` are in it.

    An edit elsewhere in the file keeps `node` the same object, so what is computed from it can be
    kept as well; an edit inside a function keeps the statements of its body that it does not touch.
    """

    __slots__ = (
        "_is_unclosed",
        "_starts",
        "alone",
        "end",
        "node",
        "offsets",
        "problems",
        "start",
        "tree",
    )

    def __init__(
        self,
        start: int,
        end: int,
        node: nodes.Statement,
        problems: tuple[SyntaxProblem, ...],
        alone: bool,
        marks: OffsetMap | None = None,
        tree: Tree | None = None,
    ) -> None:
        self.start = start
        self.end = end
        self.node = node
        self.problems = problems
        self.alone = alone
        """Whether it neither holds another item nor lies in one."""
        self.offsets = marks or OffsetMap.identity(end - start)
        self.tree = tree
        """That of its text alone, if it was parsed alone."""
        self._is_unclosed: bool | None = None
        self._starts: list[int] | None = None

    def offset(self, mark: int) -> int:
        """The byte offset in the file of a node's `start`, or of its `end`."""
        return self.start + self.offsets.offset(mark)

    def span(self, part: Located) -> Span:
        """Where a node of this item is in the file."""
        start, end = self.offsets.span(part.start, part.end)
        return Span(self.start + start, self.start + end)

    def mark(self, offset: int) -> int:
        """What a node's `start` is that begins at byte `offset` of the file."""
        return self.offsets.mark(offset - self.start)

    @property
    def is_unclosed(self) -> bool:
        """Whether a `}` is missing from it, so that its blocks may not be those that were meant."""
        if self._is_unclosed is None:
            self._is_unclosed = any(problem.expected == "`}`" for problem in self.problems)
        return self._is_unclosed

    def is_broken_between(self, start: int, end: int) -> bool:
        """Whether a problem begins at one of these marks, or between them."""
        if not self.problems:
            return False
        if self._starts is None:
            self._starts = sorted([problem.start for problem in self.problems])
        index = bisect_left(self._starts, start)
        return index < len(self._starts) and self._starts[index] <= end

    def moved(self, by: int) -> Item:
        if not by:
            return self
        start, end = self.start + by, self.end + by
        return Item(start, end, self.node, self.problems, self.alone, self.offsets, self.tree)
