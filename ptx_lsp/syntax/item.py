"""A top-level statement in its file."""

from __future__ import annotations

from bisect import bisect_left

from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.problem import SyntaxProblem
from ptx_lsp.syntax.stable_offsets import Located, OffsetMap
from ptx_lsp.text import Span

if TYPE_CHECKING:
    from tree_sitter import Tree


class Item:
    """A top-level statement, from byte `start` to `end` of the file; `marks` maps the parts of `node` and the
    `problems` to offsets.

    An edit elsewhere in the file keeps `node` the same object, so results computed from it stay valid. An
    edit inside a function keeps the untouched statements of its body.
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
        """Whether it neither contains another item nor is inside one."""
        self.offsets = marks or OffsetMap.identity(end - start)
        self.tree = tree
        """The tree of its text alone, if it was parsed alone."""
        self._is_unclosed: bool | None = None
        self._starts: list[int] | None = None

    def offset(self, mark: int) -> int:
        """The byte offset in the file of a node's `start` or `end`."""
        return self.start + self.offsets.offset(mark)

    def span(self, part: Located) -> Span:
        """The span of a node of this item in the file."""
        start, end = self.offsets.span(part.start, part.end)
        return Span(self.start + start, self.start + end)

    def mark(self, offset: int) -> int:
        """The `start` of a node that begins at byte `offset` of the file."""
        return self.offsets.mark(offset - self.start)

    @property
    def is_unclosed(self) -> bool:
        """Whether a `}` is missing from it, so that its blocks may not be the intended ones."""
        if self._is_unclosed is None:
            self._is_unclosed = any(problem.expected == "`}`" for problem in self.problems)
        return self._is_unclosed

    def is_broken_between(self, start: int, end: int) -> bool:
        """Whether a problem begins at or between these marks."""
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
