"""The blocks of a kernel, and in which order threads that went different ways are let on.

1. A block is a run of steps that is entered at its first and left after its last. Steps at which threads
   part, leave or wait end a block; a label begins one.
2. Of threads at several blocks those at the earliest in `rank` go on; where they come to a block at which
   others are, they go on together.
3. `rank` is a weak topological order: whatever leads to a block stands before it, loops apart, and the
   blocks of a loop stand together, its head first. So all ways from a split to the block where they meet
   again (its immediate post-dominator) are gone before that block itself, and all rounds of a loop before
   what comes after it.

The order is that of F. Bourdoncle, "Efficient chaotic iteration strategies with widenings" (1993).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def ranks(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block its place in the order; blocks that cannot be reached come last."""
    order: list[int] = []
    pending: list[tuple[int, frozenset[int]]] = [(root, frozenset(_reached(successors, root)))]
    while pending:
        head, inside = pending.pop()
        if head < 0:
            order.extend(inside)
            continue
        later: list[tuple[int, frozenset[int]]] = []
        for component in _components(successors, head, inside):
            if len(component) == 1:
                later.append((-1, frozenset(component)))
                continue
            entry = component[-1]
            rest = frozenset(component) - {entry}
            later.append((-1, frozenset((entry,))))
            later.extend(_regions(successors, entry, rest))
        pending.extend(reversed(later))
    rank = [len(successors)] * len(successors)
    for position, block in enumerate(order):
        rank[block] = position
    return rank


def component_numbers(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block the number of its strongly connected component; -1 for what cannot be reached."""
    found = [-1] * len(successors)
    for number, component in enumerate(_components(successors, root, range(len(successors)))):
        for block in component:
            found[block] = number
    return found


def trapped(successors: Sequence[Sequence[int]], inside: Sequence[bool]) -> set[int]:
    """The blocks from which threads never come to one that is not `inside`."""
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


def _regions(
    successors: Sequence[Sequence[int]], head: int, inside: frozenset[int]
) -> list[tuple[int, frozenset[int]]]:
    """The inside of a loop without its head: what each successor of the head reaches first.

    One region for all, entered by the first; the others are entries too.
    """
    found: list[tuple[int, frozenset[int]]] = []
    left = set(inside)
    starts = [block for block in successors[head] if block in inside]
    groups: list[tuple[int, set[int]]] = []
    for start in starts:
        if start in left:
            reached = _reached(successors, start, left)
            groups.append((start, reached))
            left -= reached
    found.extend((start, frozenset(reached)) for start, reached in reversed(groups))
    return found


def _reached(
    successors: Sequence[Sequence[int]], root: int, inside: Collection[int] | None = None
) -> set[int]:
    seen = {root}
    open_blocks = [root]
    while open_blocks:
        for target in successors[open_blocks.pop()]:
            if target not in seen and (inside is None or target in inside):
                seen.add(target)
                open_blocks.append(target)
    return seen


def _components(
    successors: Sequence[Sequence[int]], root: int, inside: Collection[int]
) -> list[list[int]]:
    """The strongly connected components of `inside`, in topological order (Tarjan, 1972); the block that
    each is entered by comes last in it.
    """
    index: dict[int, int] = {root: 0}
    low: dict[int, int] = {root: 0}
    stack = [root]
    on_stack = {root}
    found: list[list[int]] = []
    path = [(root, iter(successors[root]))]
    while path:
        block, following = path[-1]
        for target in following:
            if target not in inside:
                continue
            if target not in index:
                index[target] = low[target] = len(index)
                stack.append(target)
                on_stack.add(target)
                path.append((target, iter(successors[target])))
                break
            if target in on_stack:
                low[block] = min(low[block], index[target])
        else:
            path.pop()
            if path:
                above = path[-1][0]
                low[above] = min(low[above], low[block])
            if low[block] == index[block]:
                component: list[int] = []
                while not component or component[-1] != block:
                    component.append(stack.pop())
                    on_stack.discard(component[-1])
                found.append(component)
    return found[::-1]


def immediate_dominators(successors: Sequence[Sequence[int]], root: int) -> list[int]:
    """For each block the nearest other one that all ways to it go through; itself for `root`, and for what
    cannot be reached.

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
