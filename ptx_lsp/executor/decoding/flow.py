"""The blocks of a kernel, and the order in which divergent threads are scheduled.

1. A block is a run of steps that is entered at its first and left after its last. Steps at which threads
   diverge, exit or wait end a block; a label begins one.
2. Threads at the block with the lowest `rank` run first. When they reach a block at which others are, they
   continue together.
3. `rank` is a weak topological order: the predecessors of a block precede it, except in loops, and the blocks
   of a loop are contiguous, its head first. All paths from a divergent branch to its reconvergence point (its
   immediate post-dominator) therefore run before that block, and all iterations of a loop before the code
   after it.

The order is that of F. Bourdoncle, "Efficient chaotic iteration strategies with widenings" (1993), found in
one walk in depth.
"""

from __future__ import annotations

from collections.abc import Sequence


def ranks(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """The position of each block in the order; unreachable blocks come last."""
    walk = _Walk(successors, root)
    head_of = _heads(walk)
    inside: dict[int, list[int]] = {}
    for block in reversed(walk.postorder):
        inside.setdefault(head_of.get(block, -1), []).append(block)
    rank = [len(successors)] * len(successors)
    position = 0
    pending = inside[-1][::-1]
    while pending:
        block = pending.pop()
        rank[block] = position
        position += 1
        pending += reversed(inside.get(block, ()))
    return rank


def component_numbers(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """The strongly connected component of each block; -1 for unreachable blocks."""
    walk = _Walk(successors, root)
    head_of = _heads(walk)
    found = [-1] * len(successors)
    number = 0
    for block in reversed(walk.postorder):  # heads stand before what is in their loops
        if block in head_of:
            found[block] = found[head_of[block]]
        else:
            found[block] = number
            number += 1
    return found


def trapped(successors: Sequence[Sequence[int]], inside: Sequence[bool]) -> set[int]:
    """The blocks from which threads never reach one that is not `inside`."""
    leads: list[list[int]] = [[] for _ in successors]
    for block, targets in enumerate(successors):
        for target in targets:
            leads[target].append(block)
    open_blocks = [block for block, is_inside in enumerate(inside) if not is_inside]
    ways_out = set(open_blocks)
    while open_blocks:
        before = [block for block in leads[open_blocks.pop()] if block not in ways_out]
        ways_out.update(before)
        open_blocks += before
    return set(range(len(successors))) - ways_out


class _Walk:
    """A walk in depth of what can be reached from `root`."""

    def __init__(self, successors: Sequence[Sequence[int]], root: int) -> None:
        self.preorder: list[int] = [root]
        self.postorder: list[int] = []
        self.parent: dict[int, int] = {}
        self.back: dict[int, list[int]] = {}
        """Of a block those below it in the tree of the walk that lead back to it."""
        self.across: dict[int, list[tuple[int, int]]] = {}
        """The other edges outside the tree, by the lowest block that both ends are below, or are."""
        on_path, seen = {root}, {root}
        left = _Sets()
        """Blocks that the walk has left, in one set with the lowest one above them that it has not."""
        path = [(root, iter(successors[root]))]
        while path:
            block, following = path[-1]
            for target in following:
                if target not in seen:
                    seen.add(target)
                    on_path.add(target)
                    self.preorder.append(target)
                    self.parent[target] = block
                    path.append((target, iter(successors[target])))
                    break
                if target in on_path:
                    self.back.setdefault(target, []).append(block)
                else:
                    self.across.setdefault(left.find(target), []).append((block, target))
            else:
                path.pop()
                on_path.discard(block)
                self.postorder.append(block)
                if path:
                    left.join(block, path[-1][0])


def _heads(walk: _Walk) -> dict[int, int]:
    """For each block in a loop the head of the innermost one, but for that head itself.

    The head of a loop is the block of it that the walk comes to first; the loop are the blocks below it that
    lead back to it without leaving what is below it. Inner loops are found first, and count as one block
    from then on, which takes about as long as there are edges: see G. Ramalingam, "Identifying loops in
    almost linear time" (1999).
    """
    found: dict[int, int] = {}
    loops = _Sets()
    sources: dict[int, list[int]] = {block: [above] for block, above in walk.parent.items()}
    for head in reversed(walk.preorder):
        for source, target in walk.across.get(head, ()):
            sources.setdefault(loops.find(target), []).append(source)
        waiting = [loops.find(source) for source in walk.back.get(head, ())]
        while waiting:
            block = waiting.pop()
            if block != head and block not in found:
                found[block] = head
                waiting += [loops.find(source) for source in sources[block]]
                loops.join(block, head)
    return found


class _Sets:
    """Disjoint sets of blocks, each known by one of them."""

    def __init__(self) -> None:
        self._towards: dict[int, int] = {}

    def find(self, block: int) -> int:
        """The block that the set of this one is known by."""
        towards = self._towards
        known = block
        while known in towards:
            known = towards[known]
        while block != known:
            towards[block], block = known, towards[block]
        return known

    def join(self, block: int, other: int) -> None:
        """Puts the set known by `block` into that known by `other`."""
        self._towards[block] = other


def immediate_dominators(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block, the nearest other one on all paths to it; itself for `root` and for unreachable blocks.

    See K. Cooper, T. Harvey and K. Kennedy, "A simple, fast dominance algorithm" (2001).
    """
    order = _postorder(successors, root)
    place = {block: position for position, block in enumerate(order)}
    found = list(range(len(successors)))
    known = {root}
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            if block not in known:
                continue
            for target in successors[block]:
                nearest = block
                if target == root:
                    continue
                if target in known:
                    other = found[target]
                    while nearest != other:
                        while place[nearest] < place[other]:
                            nearest = found[nearest]
                        while place[other] < place[nearest]:
                            other = found[other]
                known.add(target)
                if found[target] != nearest:
                    found[target] = nearest
                    changed = True
    return found


def _postorder(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    seen = {root}
    found: list[int] = []
    path = [(root, iter(successors[root]))]
    while path:
        block, following = path[-1]
        for target in following:
            if target not in seen:
                seen.add(target)
                path.append((target, iter(successors[target])))
                break
        else:
            found.append(block)
            path.pop()
    return found
