"""Where native code begins and ends: its blocks, and the points at which lanes leave it.

The points are numbered. First come the blocks that have native code, in their order (`flow`); then the
barriers that native code releases; then all others: steps before which lanes leave, and other blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.executor.machine.control import Barrier, Block, Step

Place = tuple[int, int]
"""A block, and a step in it."""


class Points:
    """The numbers of points."""

    def __init__(self, blocks: Sequence[Block], native: Sequence[int]) -> None:
        """`native` are the blocks with native code, in their order."""
        self.native = tuple(native)
        self.polls = [block.polls for block in blocks]
        self.places: list[Place] = [(block, 0) for block in native]
        """What each point stands before."""
        self._numbers = {block: number for number, block in enumerate(native)}
        self._exits: dict[Place, int] = {}
        ends = [(block, len(blocks[block].steps) - 1) for block in native]
        found = [place for place in ends if is_plain_barrier(blocks[place[0]].steps[place[1]])]
        self.barriers = {place: len(native) + at for at, place in enumerate(found)}
        self.places += found

    def of_block(self, block: int) -> int:
        """The point at which a block begins."""
        found = self._numbers.get(block)
        return self.exit(block, 0) if found is None else found

    def exit(self, block: int, step: int) -> int:
        """The point at which lanes leave before a step."""
        place = (block, step)
        if place not in self._exits:
            self._exits[place] = len(self.places)
            self.places.append(place)
        return self._exits[place]

    def is_native(self, point: int) -> bool:
        return point < len(self.native)


def is_plain_barrier(step: Step) -> bool:
    """Whether it is `bar.sync 0` for all threads of a block."""
    action = step.action
    if not isinstance(action, Barrier) or step.guard >= 0:
        return False
    return action.kind == ".sync" and action.number == 0 and not action.is_counted
