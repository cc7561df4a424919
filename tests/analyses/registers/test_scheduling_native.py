"""The pressure and scheduling of machine code, which are in C, agree with simple definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random

import pytest

from ptx_lsp.analyses import _flow
from ptx_lsp.analyses._flow import DependenceGraph, Operands, block_registers, machine_blocks
from ptx_lsp.analyses.dataflow.definitions import NEVER, SEVERAL
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from tests.analyses.registers.random_code import Code, Operation
from tests.strength import seeds

_FLAG_CYCLES, _TRIES = 6, 8
_TURN = 100
"""The words of unrolled code are those of the text plus multiples of this."""

_MORE = [number % 3 + (number % 5 << 8) for number in range(500)]
Access = tuple[int, int, int, int] | None


def _counted(
    operations: Sequence[Operation], live_out: Sequence[int], elsewhere: set[int]
) -> tuple[list[Operation], list[int]]:
    """The operations as if there were no such words, with what is made of them by unrolling."""

    def general(words: frozenset[int]) -> frozenset[int]:
        return frozenset(word for word in words if word % _TURN not in elsewhere)

    return [
        one._replace(uses=general(one.uses), defs=general(one.defs), kept=general(one.kept))
        for one in operations
    ], [word for word in live_out if word not in elsewhere]


def _with_more(around: int, across: int, additional: int) -> int:
    return max(around + additional % 256, across + (additional >> 8) if across <= 14 else 0)


def _profile(
    operations: Sequence[Operation], live_out: Sequence[int], order: list[int]
) -> tuple[list[int], list[int]]:
    live = set(live_out)
    around, sizes = [0] * len(order), [0] * len(order)
    for turn in range(len(order) - 1, -1, -1):
        one = operations[order[turn]]
        after = live | one.defs
        kept = live - (one.defs - one.kept)
        live = kept | one.uses
        around[turn] = _with_more(max(len(after), len(live)), len(kept), _MORE[order[turn]])
        sizes[turn] = len(one.defs) - len(live) + len(kept)
    return around, sizes


def _edges(
    operations: Sequence[Operation], cycles: list[int], accesses: list[Access], is_ended: bool
) -> list[set[tuple[int, int]]]:
    """Each instruction is compared with all earlier ones."""
    found: list[set[tuple[int, int]]] = [set() for _ in operations]
    for late, one in enumerate(operations):
        for read in (one.uses | one.kept, one.flags_read):
            for word in read:
                writers = [
                    n
                    for n in range(late)
                    if word in operations[n].defs | operations[n].flags_written
                ]
                if writers:
                    found[writers[-1]].add(
                        (late, cycles[writers[-1]] if word >= 0 else _FLAG_CYCLES)
                    )
        for word in one.defs | one.flags_written:
            writers = [
                n for n in range(late) if word in operations[n].defs | operations[n].flags_written
            ]
            if writers:
                found[writers[-1]].add((late, 1))
            for n in range(writers[-1] + 1 if writers else 0, late):
                if word in operations[n].uses | operations[n].flags_read:
                    found[n].add((late, 0))
        access = accesses[late]
        ends = [n for n in range(late) if (accesses[n] or (0,))[0] == 4]
        if ends:
            found[ends[-1]].add((late, 0))
        if access is not None and access[0] == 4:
            for n in range(ends[-1] if ends else 0, late):
                found[n].add((late, 0))
        if access is None:
            continue
        before = [(n, accesses[n]) for n in range(late)]
        barriers = [n for n, other in before if other and other[0] > 2]
        start = barriers[-1] if barriers else 0
        if barriers:
            found[start].add((late, 0))
        since = [(n, other) for n, other in before if other and n >= start and other[0] < 3]
        if access[0] > 2:
            for n, _ in since:
                found[n].add((late, 0))
            continue
        for how in (2,) if access[0] == 1 else (1, 2):
            nearest = [(n, other) for n, other in since if other[:2] == (how, access[1])][-32:]
            for n, other in nearest:
                if other[2] != access[2] or not access[2] or other[3] == access[3]:
                    found[n].add((late, 0))
    if is_ended:
        for n in range(len(operations) - 1):
            if not found[n]:
                found[n].add((len(operations) - 1, 0))
    return found


def _order(
    operations: Sequence[Operation], live_out: Sequence[int], edges: Sequence[set[tuple[int, int]]]
) -> list[int]:
    """A price that has risen since it was noted is corrected when its turn comes; one that has fallen is
    noted when an operand becomes live.
    """
    live, taken, order = set(live_out), set[int](), list[int]()
    ready: list[tuple[int, int]] = []
    readers: dict[int, list[int]] = {}

    def note(number: int) -> None:
        one = operations[number]
        heappush(ready, (len(one.uses - live) - len(one.defs & live - one.uses), -number))

    def offer(number: int) -> None:
        note(number)
        for word in operations[number].uses - live:
            readers.setdefault(word, []).append(number)

    offered = {number for number, after in enumerate(edges) if not after}
    for number in sorted(offered):
        offer(number)
    while ready:
        price, negative = heappop(ready)
        number = -negative
        one = operations[number]
        if number in taken:
            continue
        if price != len(one.uses - live) - len(one.defs & live - one.uses):
            note(number)
            continue
        taken.add(number)
        order.append(number)
        live -= one.defs - one.kept
        fresh = one.uses - live
        live |= one.uses
        for word in fresh:
            for other in readers.pop(word, ()):
                note(other)
        for other, after in enumerate(edges):
            if other not in offered and all(successor in taken for successor, _ in after):
                offered.add(other)
                offer(other)
    return order[::-1]


def _hoisted(
    operations: Sequence[Operation],
    live_out: Sequence[int],
    additional: Sequence[int],
    graph: DependenceGraph,
    limit: int,
) -> list[int]:
    """The scheduling of `list_scheduling` (3), with lists in place of heaps."""
    live, edges = set(live_out), graph.edges
    count = len(operations)
    latest, depth = [0] * count, [0] * count
    for n, after in enumerate(edges):
        for other, cycles in after:
            depth[other] = max(depth[other], depth[n] + cycles)
    before = [
        [(n, c) for n in range(count) for other, c in edges[n] if other == m] for m in range(count)
    ]
    behind = [len(after) for after in edges]
    left = [n for n in range(count) if not behind[n]]
    now, order = 0, list[int]()

    def cost(n: int) -> int:
        return len(operations[n].uses - live) - len(operations[n].defs & live - operations[n].uses)

    def around(n: int) -> int:
        one = operations[n]
        after = len(live) + max(len(one.defs - live), cost(n))
        return _with_more(after, len(live - (one.defs - one.uses)), additional[n])

    while left:
        available = sorted([n for n in left if latest[n] <= now], key=lambda n: (-depth[n], -n))
        if not available:
            now = min(latest[n] for n in left)
            continue
        fits = [n for n in available[:_TRIES] if around(n) <= limit]
        number = fits[0] if fits else min(left, key=lambda n: (cost(n), -n))
        one = operations[number]
        order.append(number)
        now = max(now, latest[number])
        left.remove(number)
        live -= one.defs - one.kept
        live |= one.uses
        for other, cycles in before[number]:
            latest[other] = max(latest[other], now + cycles)
            behind[other] -= 1
            if not behind[other]:
                left.append(other)
        now += 1
    return order[::-1]


def _unrolled(body: Sequence[Operation], factor: int, is_jump: bytes) -> list[Operation]:
    now: dict[int, int] = {}
    found: list[Operation] = []
    fresh = _TURN
    for turn in range(factor):
        for n, one in enumerate(body):
            if is_jump[n] and turn < factor - 1:
                continue
            reads = frozenset(now.get(word, word) for word in one.uses | one.kept)
            for word in one.defs:
                now[word] = word if turn == factor - 1 else fresh + word
                fresh += _TURN
            writes = frozenset(now[word] for word in one.defs)
            found.append(one._replace(uses=reads, defs=writes, kept=frozenset()))
    return found


def _accesses(choice: Random, count: int) -> list[Access]:
    def access() -> Access:
        base, space, place = choice.choices(range(3), k=3)
        return choice.choice((None, (choice.choice((1, 1, 1, 2, 2, 2, 3, 4)), space, base, place)))

    return [access() for _ in range(count)]


def _check(
    choice: Random, operations: Sequence[Operation], live_out: list[int], operands: Operands
) -> None:
    count = len(operations)
    assert operands.used == sum(len(one.uses) for one in operations)
    assert operands.defined == sum(len(one.defs) for one in operations)
    text, additional = list(range(count)), _MORE[:count]
    cycles = [choice.choice((1, 5, 30, 300)) for _ in text]
    accesses = _accesses(choice, count)
    is_ended = choice.random() < 0.5
    graph = DependenceGraph(operands, cycles, _FLAG_CYCLES, accesses, is_ended)
    assert [set(after) for after in graph.edges] == _edges(operations, cycles, accesses, is_ended)
    for n in text:
        after = [length + graph.critical_path[other] for other, length in graph.edges[n]]
        assert graph.critical_path[n] == max([cycles[n], *after])
    elsewhere = set(choice.sample(range(14), choice.choice((0, 0, 5))))
    is_counted = operands.counted(bytes(word in elsewhere for word in range(14)))
    general, live_after = _counted(operations, live_out, elsewhere)
    order = operands.min_pressure_order(graph, is_counted)
    assert sorted(order) == text
    if not elsewhere:
        assert order == _order(operations, live_out, [set(after) for after in graph.edges])
    for one in (text, order):
        profile = operands.profile(one, additional, is_counted)
        assert profile == _profile(general, live_after, one)
    for limit in (0, 4, 7, 12, 99):
        found = operands.hoisted(graph, additional, is_counted, limit, _TRIES)
        assert found == _hoisted(general, live_after, additional, graph, limit)
    least = max([len(live_after), *(len(one.uses | one.kept) for one in general)])
    words = {word for one in general for word in one.uses | one.defs}.union(live_after)
    most = len(words) + max([len(one.defs) for one in general], default=0) + 4
    for one in (text, order):
        assert least <= operands.reordered(graph, additional, is_counted, one) <= most


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_scheduling(seed: int) -> None:
    choice = Random(seed)
    code = Code(choice, choice.choice((0, 1, 5, 30, 90)))
    operations = code.operations()
    operands = code.operands()
    assert operands.numbers == tuple(n for n, gone in enumerate(code.is_eliminated) if not gone)
    _check(choice, operations, code.live_out, operands)


@pytest.mark.parametrize("seed", seeds(10, 30))
def test_unrolled_loops(seed: int) -> None:
    choice = Random(seed)
    code = Code(choice, choice.choice((0, 1, 5, 20)))
    operands, operations = code.operands(), code.operations()
    is_jump = bytes(choice.random() < 0.1 for _ in operations)
    factor = choice.choice((1, 2, 5))
    unrolled = operands.unrolled(factor, is_jump)
    _check(choice, _unrolled(operations, factor, is_jump), code.live_out, unrolled)


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_blocks(seed: int) -> None:
    choice = Random(seed)
    code = Code(choice, 12)
    shape = InstructionKind.__new__(InstructionKind)
    kinds = [choice.choice((shape, InstructionKind.__new__(InstructionKind))) for _ in code.uses]
    first, end = sorted(choice.choices(range(13), k=2))
    loaded = set(choice.sample(range(14), choice.choice((0, 0, 3))))
    elsewhere = set(choice.sample(range(14), choice.choice((0, 0, 5))))
    live, defined, results, has_pair = set[int](), set[int](), 0, False
    for n in range(end - 1, first - 1, -1):
        if code.is_eliminated[n]:
            continue
        own = [one for one in code.defs[n] if code.values[one] is code.allocated[one]]
        whole = code.defined([one for one in own if one not in code.partial[n]])
        live = live - whole | {word for one in code.uses[n] for word in code.values[one]} - {-1}
        defined |= whole
        results += sum(word >= 0 for one in own for word in code.values[one])
        has_pair = has_pair or len(code.defined(own)) > 1
    found = machine_blocks(
        code.uses, code.defs, code.partial, code.guards, kinds, code.values, code.allocated,
        code.is_eliminated, dict.fromkeys(loaded, 0), {shape: 3}, [(0, 12), (first, end), (3, 3)],
    )[1]  # fmt: skip
    assert (set(found.upward_exposed), set(found.parameters)) == (live - loaded, live & loaded)
    assert set(found.defined) == defined - loaded
    assert (found.results, found.has_pair) == (results, has_pair)
    assert all(len(set(words)) == len(words) for words in (found.upward_exposed, found.defined))
    for after, others in ((set[int](), set[int]()), (set(code.live_out), elsewhere)):
        besides = [3 * (kind is shape) for kind in kinds]
        wanted = _block_registers(code, besides, range(first, end), after, others | loaded)
        bits = sum(1 << word for word in after).to_bytes(2, "little")
        registers = block_registers(
            code.uses, code.defs, code.partial, code.guards, kinds, code.values, code.allocated,
            code.is_eliminated, dict.fromkeys(loaded, 0), {shape: 3}, [(0, 12, b""), (first, end, bits)],
            list(range(14)), bytes(word in others for word in range(14)),
        )  # fmt: skip
        assert wanted == registers[1]
        assert after or others or wanted[0] == found.pressure


def _block_registers(
    code: Code, besides: list[int], numbers: range, live: set[int], others: set[int]
) -> tuple[int, int, int]:
    pressure = in_text_order = results = 0
    live = live - others
    for n in reversed(numbers):
        if code.is_eliminated[n]:
            continue
        after, here = len(live), 0
        for one in code.defs[n]:
            words = code.defined([one]) - others
            here += len(words)
            after += len(words - live)
            live = live if one in code.partial[n] else live - words
        live = live | {word for one in code.uses[n] for word in code.values[one]} - others - {-1}
        pressure = max(pressure, len(live) + here + besides[n])
        in_text_order = max(in_text_order, max(after, len(live)) + besides[n])
        results += here
    most = max([0, *[besides[n] for n in numbers if not code.is_eliminated[n]]])
    return pressure, in_text_order, len(live) + results + most


@pytest.mark.parametrize("seed", range(20))
def test_definitions_and_readers(seed: int) -> None:
    choice = Random(seed)
    code = Code(choice, 20)
    only, several = _flow.definitions(code.defs, code.partial, len(code.values))
    for register in range(len(code.values)):
        numbers = [n for n, defs in enumerate(code.defs) for one in defs if one == register]
        if not numbers:
            assert only[register] == NEVER
        elif len(numbers) == 1 and not code.partial[numbers[0]]:
            assert only[register] == numbers[0]
        else:
            assert (only[register], several[register]) == (SEVERAL, numbers)
    wanted = choice.sample(range(len(code.values)), 5)
    readers = _flow.Readers(code.uses, len(code.values))
    for register in wanted:
        assert readers.of(register) == [
            n for n, uses in enumerate(code.uses) for one in uses if one == register
        ]
    words = choice.sample(range(14), choice.randrange(6))
    flags = bytes(word in words for word in range(14))
    assert _flow.registers_holding(code.values, flags) == [
        register for register, held in enumerate(code.values) if not set(held).isdisjoint(words)
    ]


_CODE = Code(Random(1), 3)
_OPERANDS = _CODE.operands()
_COUNTED = _OPERANDS.counted(b"")
_GRAPH = DependenceGraph(_OPERANDS, [1] * 3, 6, [None] * 3, False)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Operands([(99,)], [()], [()], [-1], [()], [()], bytearray(1), {}, 0, 1, []),
        lambda: Operands([()], [()], [()], [-1], [()], [()], bytearray(), {}, 0, 1, []),
        lambda: Operands([()], [()], [()], [-1], [()], [], bytearray(1), {}, 0, 1, []),
        lambda: _flow.bit_sets([(1,)], {1: 99}),
        lambda: _flow.bit_members(b"\x02", [0]),
        lambda: _flow.definitions([(1,)], [()], 1),
        lambda: _flow.definitions([()], [()], -1),
        lambda: _flow.Readers([(1,)], 1),
        lambda: _flow.Readers([()], -1),
        lambda: _flow.Readers([()], 1).of(1),
        lambda: machine_blocks([], [], [], [], [], [], [], bytearray(), {}, {}, [(0, 1)]),
        lambda: block_registers([], [], [], [], [], [], [], bytearray(), {}, {}, [(0, 1, b"")], [], b""),
        lambda: block_registers([], [], [], [], [], [], [], bytearray(), {}, {}, [(0, 0, b"1")], [], b""),
        lambda: _OPERANDS.unrolled(0, bytes(3)),
        lambda: _OPERANDS.unrolled(2, b""),
        lambda: _OPERANDS.profile([0, 1], [0] * 3, _COUNTED),
        lambda: _OPERANDS.profile([0, 1, 1], [0] * 3, _COUNTED),
        lambda: _OPERANDS.profile([0, 1, 2], [0] * 2, _COUNTED),
        lambda: _OPERANDS.profile([0, 1, 2], [0] * 3, b""),
        lambda: _OPERANDS.min_pressure_order(_GRAPH, b""),
        lambda: Code(Random(1), 0).operands().min_pressure_order(_GRAPH, b""),
        lambda: DependenceGraph(_OPERANDS, [1] * 2, 6, [None] * 3, False),
        lambda: DependenceGraph(_OPERANDS, [1] * 3, 6, [(5, 0, 0, 0)] * 3, False),
        lambda: DependenceGraph(_OPERANDS, [1] * 3, 6, [(1, 8, 0, 0)] * 3, False),
        lambda: _OPERANDS.hoisted(_GRAPH, [0] * 2, _COUNTED, 1, 1),
        lambda: _OPERANDS.hoisted(_GRAPH, [0] * 3, b"", 1, 1),
        lambda: _OPERANDS.hoisted(_GRAPH, [0] * 3, _COUNTED, 1, -1),
        lambda: Code(Random(1), 0).operands().hoisted(_GRAPH, [], b"", 1, 1),
        lambda: _OPERANDS.reordered(_GRAPH, [0] * 2, _COUNTED, [0, 1, 2]),
        lambda: _OPERANDS.reordered(_GRAPH, [0] * 3, b"", [0, 1, 2]),
        lambda: _OPERANDS.reordered(_GRAPH, [0] * 3, _COUNTED, [0, 1, 1]),
        lambda: Code(Random(1), 0).operands().reordered(_GRAPH, [], b"", []),
    ],
)
def test_other_arguments_are_an_error(call: Callable[[], object]) -> None:
    with pytest.raises((IndexError, TypeError, ValueError)):
        call()
