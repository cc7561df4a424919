"""Exchanges between lanes of a warp, lane by lane as the manual specifies; and atomics."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from ptx_lsp.executor import launch
from tests.executor.arithmetic.instruction import HEADER, run

FULL = 0xFFFFFFFF
CHOSEN = random.Random(11)
WORD = ".b32"


def words(count: int = 64) -> list[int]:
    return [CHOSEN.getrandbits(32) for _ in range(count)]


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that is read, and whether it is in range, as the manual's program computes them."""
    segment, limit, by = c >> 8 & 31, c & 31, b & 31
    last, first = lane & segment | limit & ~segment & 31, lane & segment
    source = {
        "up": lane - by, "down": lane + by, "bfly": lane ^ by, "idx": first | by & ~segment & 31,
    }[mode]
    inside = source >= last if mode == "up" else source <= last
    return (source, True) if inside else (lane, False)


@pytest.mark.parametrize("c", [31, 0, 0x1C1F, 0x1800, 0x1007])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_shuffles(mode: str, c: int) -> None:
    values = words()
    for uniform in (True, False):
        by = [5] * 64 if uniform else [CHOSEN.randrange(40) for _ in range(64)]
        rows = [[value, b, c, FULL] for value, b in zip(values, by, strict=True)]
        types = [WORD, "#" if uniform else WORD, "#", "#"]
        found = run(f"shfl.sync.{mode}.b32", rows, types, [WORD, ".pred"])
        for thread, got in enumerate(found):
            source, inside = shuffled(mode, thread % 32, by[thread], c)
            assert got == [values[thread // 32 * 32 + source], int(inside)], thread


def test_votes() -> None:
    for pattern in (0, FULL, 1, 0xF0F0F0F0):
        rows = [[pattern >> lane & 1, FULL] for lane in range(32)]
        wanted = {"all": pattern == FULL, "any": pattern != 0, "uni": pattern in (0, FULL)}
        for mode, want in wanted.items():
            found = run(f"vote.sync.{mode}.pred", rows, [".pred", "#"], [".pred"])
            assert [got for (got,) in found] == [int(want)] * 32
        found = run("vote.sync.ballot.b32", rows, [".pred", "#"], [WORD])
        assert [got for (got,) in found] == [pattern] * 32


def test_matches() -> None:
    values = [CHOSEN.randrange(5) for _ in range(64)]
    found = run("match.any.sync.b32", [[value, FULL] for value in values], [WORD, "#"], [WORD])
    for thread, (got,) in enumerate(found):
        warp = values[thread // 32 * 32 :][:32]
        assert got == sum((warp[lane] == values[thread]) << lane for lane in range(32))
    same = [7] * 32 + values[:32]
    rows = [[value, FULL] for value in same]
    found = run("match.all.sync.b32", rows, [WORD, "#"], [WORD, ".pred"])
    assert found == [[FULL, 1]] * 32 + [[0, 0]] * 32


def test_reductions() -> None:
    values = words(32)
    signed = [value - (value >> 31 << 32) for value in values]
    rows = [[value, FULL] for value in values]
    everything, nothing = FULL, 0
    odd = 0
    for value in values:
        everything, nothing, odd = everything & value, nothing | value, odd ^ value
    wanted = {
        "add.u32": sum(values), "min.u32": min(values), "max.s32": max(signed), "min.s32": min(signed),
        "and.b32": everything, "or.b32": nothing, "xor.b32": odd,
    }
    for name, want in wanted.items():
        found = run(f"redux.sync.{name}", rows, [WORD, "#"], [WORD])
        assert found == [[want & FULL]] * 32, name


def test_parted_lanes_wait_for_one_another() -> None:
    """Half of the warp comes to the shuffle later than the other half."""
    out = np.zeros(32, np.uint32)
    text = HEADER + """
    .entry k(.param .u64 out) {
    .reg .u64 %a, %b; .reg .u32 %t, %v; .reg .pred %p;
    mov.u32 %t, %tid.x; mul.lo.u32 %v, %t, 10; setp.lt.u32 %p, %t, 16;
    @%p bra first;
    add.u32 %v, %v, 1;
    bra both;
first:
    add.u32 %v, %v, 2;
    add.u32 %v, %v, 2;
both:
    shfl.sync.bfly.b32 %v, %v, 16, 31, 0xffffffff;
    ld.param.u64 %a, [out]; mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b; st.global.u32 [%a], %v;
    ret; }
    """
    launch(text, entry="k", grid=1, block=32, args=[out])
    assert out.tolist() == [10 * (lane ^ 16) + (1 if lane < 16 else 4) for lane in range(32)]


ATOMICS: dict[str, Callable[[int, int], int]] = {
    "add.u32": lambda a, b: a + b, "min.u32": min, "max.u32": max, "exch.b32": lambda a, b: b,
    "and.b32": lambda a, b: a & b, "or.b32": lambda a, b: a | b, "xor.b32": lambda a, b: a ^ b,
    "inc.u32": lambda a, b: 0 if a >= b else a + 1,
    "dec.u32": lambda a, b: b if a == 0 or a > b else a - 1,
}


@pytest.mark.parametrize("name", ATOMICS)
def test_atomics_take_turns(name: str) -> None:
    """Each lane finds what some order of all lanes leaves it; ours goes by lane."""
    cells = np.array(words(4), np.uint32)
    operands = np.array([CHOSEN.getrandbits(32) >> CHOSEN.choice([0, 28]) for _ in range(100)], np.uint32)
    old = np.zeros(100, np.uint32)
    expected, found = cells.tolist(), list[int]()
    for lane, operand in enumerate(operands.tolist()):
        found.append(expected[lane % 4])
        expected[lane % 4] = ATOMICS[name](expected[lane % 4], operand) & FULL
    text = HEADER + f"""
    .entry k(.param .u64 cells, .param .u64 operands, .param .u64 old) {{
    .reg .u64 %a, %b, %c, %s; .reg .u32 %t, %v, %w; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u64 %a, [cells]; ld.param.u64 %b, [operands]; ld.param.u64 %c, [old];
    mul.wide.u32 %s, %t, 4; add.u64 %b, %b, %s; add.u64 %c, %c, %s;
    and.b32 %w, %t, 3; mul.wide.u32 %s, %w, 4; add.u64 %a, %a, %s;
    ld.global.u32 %v, [%b]; atom.global.{name} %w, [%a], %v; st.global.u32 [%c], %w;
    ret; }}
    """
    launch(text, entry="k", grid=1, block=100, args=[cells, operands, old])
    assert cells.tolist() == expected
    assert old.tolist() == found


def test_sums_with_carry() -> None:
    """Numbers of 128 bits, a word at a time."""
    pairs = [(CHOSEN.getrandbits(128), CHOSEN.getrandbits(128)) for _ in range(64)]
    pairs += [((1 << 128) - 1, 1), (1 << 64, (1 << 64) - 1), (0, 1)]
    sums, differences = (np.zeros((len(pairs), 4), np.uint32) for _ in range(2))
    given = np.array(
        [[n >> at & FULL for n in pair for at in range(0, 128, 32)] for pair in pairs], np.uint32
    )
    lines = [
        "ld.global.v4.u32 {%x0, %x1, %x2, %x3}, [%a];",
        "ld.global.v4.u32 {%y0, %y1, %y2, %y3}, [%a+16];",
    ]
    for name, into in (("add", "%b"), ("sub", "%c")):
        for at in range(4):
            carry = "" if at == 0 else "c"
            write = "" if at == 3 else ".cc"
            lines.append(f"{name}{carry}{write}.u32 %z{at}, %x{at}, %y{at};")
        lines.append(f"st.global.v4.u32 [{into}], {{%z0, %z1, %z2, %z3}};")
    text = HEADER + """
    .entry k(.param .u64 given, .param .u64 sums, .param .u64 differences) {
    .reg .u64 %a, %b, %c, %s; .reg .u32 %t, %x<4>, %y<4>, %z<4>;
    mov.u32 %t, %tid.x; ld.param.u64 %a, [given]; ld.param.u64 %b, [sums]; ld.param.u64 %c, [differences];
    mul.wide.u32 %s, %t, 32; add.u64 %a, %a, %s; mul.wide.u32 %s, %t, 16; add.u64 %b, %b, %s;
    add.u64 %c, %c, %s;
    """ + "\n".join([*lines, "ret;", "}", ""])
    launch(text, entry="k", grid=1, block=len(pairs), args=[given, sums, differences])
    for found, sign in ((sums, 1), (differences, -1)):
        for (a, b), row in zip(pairs, found.tolist(), strict=True):
            assert sum(word << 32 * at for at, word in enumerate(row)) == (a + sign * b) % (1 << 128)


ONE_WARP = HEADER + """
    .entry k(.param .u64 out) {{
    .reg .u64 %a, %b; .reg .u32 %t, %v, %w; .reg .f32 %f; .reg .pred %p, %q;
    mov.u32 %t, %tid.x; mov.u32 %v, 0; mov.u32 %w, 0;
    {}
    ld.param.u64 %a, [out]; mul.wide.u32 %b, %t, 8; add.u64 %a, %a, %b; st.global.v2.u32 [%a], {{%v, %w}};
    ret; }}
    """


def warp(body: str, threads: int = 32, seed: int = 0) -> list[list[int]]:
    """What a warp leaves in %v and %w; %t is the thread, %f, %p and %q are free."""
    out = np.zeros((threads, 2), np.uint32)
    launch(ONE_WARP.format(body), entry="k", grid=1, block=threads, args=[out], seed=seed)
    return out.tolist()


def test_elections() -> None:
    """The lowest lane of those that the mask names and that are there."""
    body = "setp.gt.u32 %p, %t, 2; @%p elect.sync %v|%q, MASK; @!%p bra on; @%q mov.u32 %w, 1; on:"
    for mask, leader in ((0xFFFFFFF8, 3), (0xF0000000, 28)):
        found = warp(body.replace("MASK", hex(mask)))
        assert [row[0] for row in found if row[1]] == [leader]
        assert [thread for thread, row in enumerate(found) if row[1]] == [leader]
        assert found[2] == [0, 0]


def test_the_active_mask() -> None:
    found = warp("setp.lt.u32 %p, %t, 5; @%p activemask.b32 %v; @!%p activemask.b32 %w;", 20)
    assert found == [[0x1F, 0]] * 5 + [[0, 0xFFFE0]] * 15


@pytest.mark.parametrize(
    ("modifiers", "want"),
    [
        ("min", -7.5), ("max", 3.25), ("min.abs", 0.5), ("max.abs", 7.5), ("min.NaN", None),
        ("max.abs.NaN", None),
    ],
)
def test_reductions_of_floats(modifiers: str, want: float | None) -> None:
    """A NaN loses; with .NaN the result is the canonical one."""
    values = np.array([0.5, -7.5, 3.25, np.nan] * 8, np.float32).view(np.uint32).tolist()
    found = run(f"redux.sync.{modifiers}.f32", [[v, FULL] for v in values], [".f32", "#"], [".f32"])
    bits = 0x7FFFFFFF if want is None else int(np.float32(want).view(np.uint32))
    assert found == [[bits]] * 32
    values = [value for value in values if not np.isnan(np.uint32(value).view(np.float32))]
    if want is None:
        found = run(
            f"redux.sync.{modifiers}.f32", [[v, (1 << 24) - 1] for v in values], [".f32", "#"], [".f32"]
        )
        assert found == [[int(np.float32(7.5 if "abs" in modifiers else -7.5).view(np.uint32))]] * 24


def test_votes_of_those_that_are_there() -> None:
    """The old vote asks the active threads, vote.sync those of the mask."""
    body = """setp.lt.u32 %p, %t, 8; setp.lt.u32 %q, %t, 4;
    @%p vote.ballot.b32 %v, %q; @%p vote.sync.ballot.b32 %w, %q, 0xfe;"""
    text = ONE_WARP.format(body).replace("9.4", "6.3").replace("sm_107a", "sm_60")
    out = np.zeros((32, 2), np.uint32)
    launch(text, entry="k", grid=1, block=32, args=[out])
    assert out.tolist() == [[0xF, 0xE]] * 8 + [[0, 0]] * 24


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_halves_of_a_warp_exchange_at_different_instructions(seed: int) -> None:
    """The same instruction twice in the text: the lanes of both belong together."""
    body = """setp.lt.u32 %p, %t, 16; @%p bra low;
    mul.lo.u32 %v, %t, 3;
    shfl.sync.bfly.b32 %w, %v, 31, 31, 0xffffffff;
    bra on;
low: mul.lo.u32 %v, %t, 5;
    shfl.sync.bfly.b32 %w|%q, %v, 31, 31, 0xffffffff;
on:"""
    want = [[5 * t, 3 * (31 - t)] if t < 16 else [3 * t, 5 * (31 - t)] for t in range(32)]
    text = ONE_WARP.format(body.replace("%w, %v, 31", "%w|%q, %v, 31"))
    out = np.zeros((32, 2), np.uint32)
    launch(text, entry="k", grid=1, block=32, args=[out], seed=seed)
    assert out.tolist() == want


def tiles() -> list[int]:
    """For each thread of two warps the mask of its tile: random ones, and those of eight lanes."""
    of_lane = [CHOSEN.randrange(5) for _ in range(32)]
    warps = of_lane, [lane // 8 for lane in range(32)]
    return [sum((other == one) << lane for lane, other in enumerate(warp)) for warp in warps for one in warp]


def of_tile(values: list[int], masks: list[int], thread: int) -> list[int]:
    """The values of the lanes that the mask of a thread names."""
    warp = values[thread // 32 * 32 :][:32]
    return [value for lane, value in enumerate(warp) if masks[thread] >> lane & 1]


def test_tiles_of_a_warp_combine_apart() -> None:
    """As all threads of a mask use the same mask, those with other masks are other groups."""
    masks, values = tiles(), [CHOSEN.randrange(3) for _ in range(64)]
    lanes = [1 << thread % 32 for thread in range(64)]
    for thread, bits in enumerate(zip(*(_by_tile(values, masks)[name] for name in _BY_TILE), strict=True)):
        own = of_tile(values, masks, thread)
        equal = sum(lane for lane, value in zip(of_tile(lanes, masks, thread), own, strict=True)
                    if value == values[thread])
        truths = [value > 0 for value in own]
        where = sum(lane for lane, value in zip(of_tile(lanes, masks, thread), truths, strict=True) if value)
        is_same = len(set(own)) == 1
        assert bits == (
            sum(own), max(own), all(truths), any(truths), len(set(truths)) == 1, where, equal,
            masks[thread] if is_same else 0, (masks[thread] & -masks[thread]).bit_length() - 1,
        ), thread


_BY_TILE = {
    "redux.sync.add.u32": WORD, "redux.sync.max.u32": WORD, "vote.sync.all.pred": ".pred",
    "vote.sync.any.pred": ".pred", "vote.sync.uni.pred": ".pred", "vote.sync.ballot.b32": ".pred",
    "match.any.sync.b32": WORD, "match.all.sync.b32": WORD, "elect.sync": "",
}
"""Instructions, with the type of their source if they have one."""


def _by_tile(values: list[int], masks: list[int]) -> dict[str, list[int]]:
    """The first result of each instruction, by thread."""
    found: dict[str, list[int]] = {}
    for name, source in _BY_TILE.items():
        given = [int(value > 0) if source == ".pred" else value for value in values]
        rows = [[value, mask] if source else [mask] for value, mask in zip(given, masks, strict=True)]
        results = [".pred"] if name.endswith("pred") else [WORD]
        results += [".pred"] if name in ("match.all.sync.b32", "elect.sync") else []
        found[name] = [row[0] for row in run(name, rows, [source, WORD] if source else [WORD], results)]
    return found


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_tiles_combine_apart_at_different_instructions(seed: int) -> None:
    """Each tile of eight lanes meets half in one place and half in another."""
    body = """and.b32 %v, %t, 24; shl.b32 %v, 255, %v; and.b32 %w, %t, 1; setp.eq.u32 %p, %w, 0; @%p bra even;
    redux.sync.add.u32 %w, %t, %v; bra on;
even: redux.sync.add.u32 %w, %t, %v;
on:"""
    assert [row[1] for row in warp(body, seed=seed)] == [sum(range(t & 24, (t & 24) + 8)) for t in range(32)]


@pytest.mark.parametrize("waits", ["bar.warp.sync %v", "shfl.sync.idx.b32 %w|%q, %t, 0, 31, %v"])
def test_a_tile_does_not_wait_for_others(waits: str) -> None:
    """Lane 12 waits for lane 0, which waits for the lanes 0 to 7 alone."""
    body = f"""and.b32 %v, %t, 24; shl.b32 %v, 255, %v; setp.ne.u32 %p, %t, 12; @%p bra go;
    ld.param.u64 %a, [out];
spin: ld.relaxed.gpu.global.u32 %w, [%a+256]; setp.eq.u32 %q, %w, 0; @%q bra spin;
go: {waits}; setp.ne.u32 %p, %t, 0; @%p bra on;
    ld.param.u64 %a, [out]; st.relaxed.gpu.global.u32 [%a+256], 1;
on:"""
    out = np.zeros(66, np.uint32)
    launch(ONE_WARP.format(body), entry="k", grid=1, block=32, args=[out])
    assert out[64] == 1


def test_lanes_that_no_longer_are_there() -> None:
    """Ended threads are not waited for; what they had is what is read."""
    body = """mov.u32 %w, %t; setp.ge.u32 %p, %t, 30; @%p exit;
    shfl.sync.down.b32 %v, %w, 1, 31, 0xffffffff;"""
    found = warp(body)
    assert found[:29] == [[t + 1, t] for t in range(29)]
    assert found[29:] == [[30, 29], [0, 0], [0, 0]]


def test_many_lanes_compare_and_swap_in_turns() -> None:
    """Chains of successes, at several addresses, against the definition."""
    count = 300
    for most in (2, 3, 40):
        at, wanted, given = (CHOSEN.choices(range(most), k=count) for _ in range(3))
        cells = [0] * most
        olds: list[int] = []
        for a, b, c in zip(at, wanted, given, strict=True):
            olds.append(cells[a])
            cells[a] = c if cells[a] == b else cells[a]
        memory, old = np.zeros(most, np.uint32), np.zeros(count, np.uint32)
        operands = np.array([at, wanted, given], np.uint32).T.copy()
        text = HEADER + """
        .entry k(.param .u64 cells, .param .u64 operands, .param .u64 old) {
        .reg .u64 %a, %b, %c; .reg .u32 %t, %v<4>;
        mov.u32 %t, %tid.x; ld.param.u64 %a, [cells]; ld.param.u64 %b, [operands]; ld.param.u64 %c, [old];
        mad.wide.u32 %b, %t, 12, %b; mad.wide.u32 %c, %t, 4, %c; ld.global.u32 %v0, [%b];
        ld.global.u32 %v1, [%b+4]; ld.global.u32 %v2, [%b+8]; mad.wide.u32 %a, %v0, 4, %a;
        atom.global.cas.b32 %v3, [%a], %v1, %v2; st.global.u32 [%c], %v3;
        ret; }
        """
        launch(text, entry="k", grid=1, block=count, args=[memory, operands, old])
        assert memory.tolist() == cells
        assert old.tolist() == olds
