"""The instructions that the labels of a function precede."""

from __future__ import annotations

from bisect import bisect_left

from ptx_lsp.model._core import labels
from ptx_lsp.model.body_diff import InstructionRangeEdit
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Label
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class LabelPositions:
    """The positions of labels. It is the same object as long as edits leave it unchanged."""

    __slots__ = ("at", "names")

    def __init__(self, at: dict[int, int], names: dict[int, list[str]]) -> None:
        self.at: Final = at
        """The instruction that follows each label, by the start of the label's name."""
        self.names: Final = names
        """The labels before each instruction, in the order of the text."""

    @classmethod
    def of(cls, function: Function) -> LabelPositions:
        if not function.body.labels:
            return NO_LABELS
        found = cls({}, {})
        for label, position in labels(function.body.statements, function.body.symbols):
            found._add(label, position)
        return found

    def after(self, change: InstructionRangeEdit, function: Function) -> LabelPositions:
        """The positions after an edit. Only labels next to it are searched for."""
        first, old_end, _ = change
        growth, declared = change.growth, function.body.labels
        found = LabelPositions({}, {})
        offset, instructions = function.item.offset, function.body.instructions
        is_same = growth == 0 and len(declared) == len(self.at)
        has_several = False
        for label in declared:
            start = label.place.start
            before = position = self.at.get(start, -1)
            if position > old_end:
                position += growth
            elif position < 0 or position >= first:
                position = bisect_left(instructions, offset(start), key=lambda one: offset(one.start))
            if is_same and (position != before or label.name not in self.names[before]):
                is_same = False
            has_several = has_several or position in found.names
            found._add(label, position)
        if is_same:
            return self
        if has_several:
            found._sort(function)
        return found

    def _add(self, label: Label, position: int) -> None:
        self.at[label.place.start] = position
        names = self.names.get(position)
        if names is None:
            self.names[position] = [label.name]
        else:
            names.append(label.name)

    def _sort(self, function: Function) -> None:
        """Brings several labels of one instruction into the order of the text."""
        offset = function.item.offset
        shared = {position for position, names in self.names.items() if len(names) > 1}
        labels = [one for one in function.body.labels if self.at[one.place.start] in shared]
        for position in shared:
            self.names[position].clear()
        for label in sorted(labels, key=lambda one: offset(one.place.start)):
            self.names[self.at[label.place.start]].append(label.name)


NO_LABELS: Final = LabelPositions({}, {})
