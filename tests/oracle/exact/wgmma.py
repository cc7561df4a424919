"""`wgmma` for matrix.py: matrices in shared memory as descriptors have them ("Shared Memory Matrix
Layout"), or A in registers; each thread stores the weighted sum of its part of D.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.oracle.exact.fragments import LEFT, SPARSE_LEFT, collected
from tests.oracle.exact.kernel import Field, Kernel, split, vector
from tests.oracle.exact.mma import FIELDS, NEAR_THE_ENDS
from tests.oracle.exact.mma_sparse import expanded, places
from tests.oracle.exact.products import assert_exact, bits_of, of_bits, text, totals, units, wrapped

_FIELDS = {**FIELDS, "tf32": Field("tf32", 0x80E01FFF, 0x3F000000)}
"""The lower 13 bits of `.tf32`, which do not count, are there."""
_A, _B, _REGISTERS, _D = 0, 16, 32, 4
"""The words of a thread that are those operands."""
_SWIZZLES = {16: 0, 128: 1, 64: 2, 32: 3}


class Layout(NamedTuple):
    """How a matrix lies in shared memory: by its `k`, or the other way (`mn`); the width of the swizzle in
    bytes, 16 for none; at which byte it begins, and where its pattern does.
    """

    major: str
    swizzle: int = 16
    start: int = 0
    pattern: int = 0

    def strides(self, length: int, k: int, bits: int) -> tuple[int, int]:
        """Leading and stride byte offset, as far from each other as they may be."""
        wide = self.swizzle // 16
        each = 128 // bits
        if self.major == "k":
            return (128 * -(-length // 8) + 16, 128) if wide == 1 else (16, 8 * self.swizzle)
        if wide == 1:
            return 128 * -(-length // each) + 16, 128
        return 8 * self.swizzle * (k // 8), 8 * self.swizzle

    def place(self, at: int, k: int, strides: tuple[int, int], bits: int) -> tuple[int, int]:
        """The byte at which the 16 bytes begin that have an element, and its number there (canonical layouts,
        in units of T = 128 / bits elements).
        """
        leading, stride = strides
        wide, each = self.swizzle // 16, 128 // bits
        if self.major == "k":
            offset = at % 8 * 16 * wide + at // 8 * stride + k // each * (leading if wide == 1 else 16)
            inner = k % each
        else:
            first, rest = at // each % wide, at // each // wide
            across, along = (stride, leading) if wide == 1 else (leading, stride)
            offset = first * 16 + rest * across + k % 8 * 16 * wide + k // 8 * along
            inner = at % each
        address = self.start + offset
        return address ^ ((address - self.pattern >> 7) % wide << 4), inner

    def matrix(self, memory: bytes, length: int, k: int, bits: int) -> list[list[int]]:
        """Rows (or columns) by k."""
        strides = self.strides(length, k, bits)
        found: list[list[int]] = []
        for at in range(length):
            row: list[int] = []
            for column in range(k):
                address, inner = self.place(at, column, strides, bits)
                assert address + 16 <= len(memory)
                chunk = int.from_bytes(memory[address : address + 16], "little")
                row.append(chunk >> inner * bits & (1 << bits) - 1)
            found.append(row)
        return found

    def descriptor(self, length: int, k: int, bits: int) -> int:
        """Without the address of the region that it lies in."""
        leading, stride = self.strides(length, k, bits)
        base = self.pattern >> 7 & 7
        return leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | _SWIZZLES[self.swizzle] << 62


class Case(NamedTuple):
    """A product of m64nNkK; A is None for registers. `adds` is scale-d, `signs` are those of A and B."""

    n: int
    a: Layout | None
    b: Layout
    adds: bool = True
    signs: tuple[int, int] = (1, 1)
    selector: int = 0
    limited: bool = False


_K, _K32, _K64, _K128 = (Layout("k", width) for width in (16, 32, 64, 128))
_MN, _MN32, _MN64, _MN128 = (Layout("mn", width) for width in (16, 32, 64, 128))
_WITHIN = Layout("k", 128, 32)
"""From the second slice along k of a pattern on."""
_SHIFTED = Layout("k", 128, 512, 512)
"""Whose pattern does not begin at a multiple of 1024."""


def halves() -> Iterator[Kernel]:
    for sum in ("f32", "f16"):
        yield _kernel(f"f16_{sum}", 16, sum, "f16", "f16", [
            Case(8, _K, _K128), Case(24, _K32, _K, signs=(-1, 1)), Case(8, _K128, _MN, adds=False),
            Case(32, _MN128, _K64), Case(16, _MN32, _MN32, signs=(-1, -1)), Case(8, _MN64, _WITHIN),
            Case(32, _MN, _MN64), Case(8, None, _K32, signs=(1, -1)), Case(32, None, _MN32, adds=False),
        ])


def floats() -> Iterator[Kernel]:
    yield _kernel("bf16", 16, "f32", "bf16", "bf16", [
        Case(8, _WITHIN, _MN, signs=(1, -1)), Case(16, _MN128, _SHIFTED), Case(24, _K64, _MN, adds=False),
        Case(8, None, _K), Case(32, None, _MN64, signs=(-1, 1)),
    ])
    yield _kernel("tf32", 8, "f32", "tf32", "tf32", [
        Case(8, _K, _K32, signs=(-1, 1)), Case(24, _K128, _SHIFTED), Case(8, None, _WITHIN, adds=False),
        Case(16, None, _K, signs=(1, -1)),
    ])


def bytes_of_floats() -> Iterator[Kernel]:
    for a, b, sum in (("e4m3", "e5m2", "f32"), ("e5m2", "e4m3", "f16")):
        yield _kernel(f"{a}_{b}", 32, sum, a, b, [
            Case(8, _K128, _K, signs=(-1, 1)), Case(24, _K, _K32, adds=False), Case(16, None, _K64),
            Case(8, None, _WITHIN, signs=(1, -1)),
        ])


def integers() -> Iterator[Kernel]:
    for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")):
        yield _kernel(f"{a}_{b}", 32, "s32", a, b, [
            Case(8, _K128, _K), Case(24, _K, _K64, limited=True), Case(16, None, _K32, limited=True),
            Case(8, None, _WITHIN, adds=False),
        ])
    yield _kernel("b1", 256, "s32", "b1", "b1", [
        Case(8, _K128, _K), Case(16, _K, _K32, adds=False), Case(24, None, _K64), Case(8, None, _WITHIN),
    ])


def sparse_halves() -> Iterator[Kernel]:
    for sum in ("f32", "f16"):
        yield _kernel(f"f16_{sum}", 32, sum, "f16", "f16", [
            Case(8, _K, _K128, selector=1), Case(24, _K32, _K, signs=(-1, 1)),
            Case(16, _MN64, _MN32, selector=1, adds=False), Case(8, None, _K64, signs=(1, -1)),
            Case(32, None, _MN64, selector=1),
        ], sparse=True)


def sparse_floats() -> Iterator[Kernel]:
    yield _kernel("bf16", 32, "f32", "bf16", "bf16", [
        Case(8, _MN, _K, signs=(1, -1)), Case(16, _K128, _MN32, selector=1), Case(8, None, _K128, adds=False),
        Case(24, None, _MN, selector=1, signs=(-1, 1)),
    ], sparse=True)
    yield _kernel("tf32", 16, "f32", "tf32", "tf32", [
        Case(8, _K64, _K, selector=1, signs=(-1, 1)), Case(24, _K, _K64), Case(8, None, _K128, selector=1),
        Case(16, None, _K, adds=False),
    ], sparse=True)


def sparse_bytes_of_floats() -> Iterator[Kernel]:
    for a, b, sum in (("e4m3", "e5m2", "f16"), ("e5m2", "e4m3", "f32")):
        yield _kernel(f"{a}_{b}", 64, sum, a, b, [
            Case(8, _K128, _K, signs=(1, -1)), Case(24, _K, _K64, adds=False), Case(16, None, _K128),
            Case(8, None, _K, signs=(-1, 1)),
        ], sparse=True)


def sparse_integers() -> Iterator[Kernel]:
    for a, b in (("s8", "s8"), ("u8", "u8"), ("s8", "u8"), ("u8", "s8")):
        yield _kernel(f"{a}_{b}", 64, "s32", a, b, [
            Case(8, _K128, _K), Case(24, _K, _K64, limited=True), Case(16, None, _K128, limited=True),
            Case(8, None, _K, adds=False),
        ], sparse=True)


def _kernel(
    name: str, k: int, sum: str, a: str, b: str, cases: Sequence[Case], *, sparse: bool = False
) -> Kernel:
    kernel = Kernel(name, 40, len(name) + 128 * sparse, threads=128)
    of_a = b"".join(one.to_bytes(4, "little") for one in kernel.region("left", (_FIELDS[a],), 16, _A))
    of_b = b"".join(one.to_bytes(4, "little") for one in kernel.region("right", (_FIELDS[b],), 16, _B))
    held = kernel.operand("a", _FIELDS[a], 4, _REGISTERS)
    most = max(case.n for case in cases) // (4 if sum == "f16" else 2)
    field = NEAR_THE_ENDS[bits_of(a)] if sum == "s32" else _FIELDS[sum]
    before = kernel.operand("c", field, most, _D)
    words = places(kernel, "twins" if a == "tf32" else "unordered", 36) if sparse else []
    kernel.declare("x", ".b64", 2)
    kernel.declare("q", ".pred", 2)
    kernel.line("setp.eq.u32 %q1, %id, %id;  not.pred %q0, %q1;")
    kernel.line("fence.proxy.async.shared::cta;  bar.sync 0;")
    for number, case in enumerate(cases):
        width = bits_of(a)
        kept = k // 2 if sparse else k
        left = case.a.matrix(of_a, 64, kept, width) if case.a else _from_registers(held, a, k, sparse)
        right = case.b.matrix(of_b, case.n, k, width)
        found = _product(case, left, right, before, (sum, a, b), words)
        _write(kernel, case, f"m64n{case.n}k{k}", (sum, a, b), kept, sparse)
        _store(kernel, case, f"n{case.n}_{number}", sum, found)
    return kernel


def _from_registers(held: Sequence[Sequence[int]], type: str, k: int, sparse: bool) -> list[list[int]]:
    """Of each warp 16 rows, as in `mma` (Figures 148, 150, 152, 154; 175, 177, 179 of sparse ones)."""
    width = bits_of(type)
    formula = (SPARSE_LEFT if sparse else LEFT)[f"m16n8k{k}", width]
    found: list[list[int]] = []
    for warp in range(4):
        elements = [split(words, width) for words in held[32 * warp : 32 * warp + 32]]
        found += collected(formula, elements, 16, k // 2 if sparse else k)
    return found


def _product(
    case: Case, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]],
    before: Sequence[Sequence[int]], types: tuple[str, str, str], words: Sequence[int],
) -> list[list[Fraction]]:
    """D of each thread, in the order of its registers."""
    d, a, b = types
    start = [[0] * case.n for _ in range(64)]
    for thread, registers in enumerate(before):
        elements = split(registers, bits_of(d))[: case.n // 2]
        for i, element in enumerate(elements):
            row, column = _place(thread, i)
            start[row][column] = units(element, d) if case.adds else 0
    if a == "b1":
        plain = [[one >> 24 for one in row] for row in start]
        counted = of_bits(left, list(zip(*right, strict=True)), plain, "and")
        found = [[Fraction(one) for one in row] for row in counted]
    else:
        x = [[units(one, a) * case.signs[0] for one in row] for row in left]
        y = [[units(one, b) * case.signs[1] for one in row] for row in right]
        if words:
            x = [
                row for warp in range(4)
                for row in expanded(
                    x[16 * warp : 16 * warp + 16], a, words[32 * warp : 32 * warp + 32], case.selector
                )
            ]
        found = totals(x, list(zip(*y, strict=True)), start, d, limited=case.limited)
    return [
        [found[row][column] for row, column in (_place(thread, i) for i in range(case.n // 2))]
        for thread in range(128)
    ]


def _place(thread: int, i: int) -> tuple[int, int]:
    """Of an element of D (Figures 149, 151, 153, 155)."""
    row = thread // 32 * 16 + thread % 32 // 4 + (8 if i & 2 else 0)
    return row, i // 4 * 8 + thread % 4 * 2 + (i & 1)


def _write(
    kernel: Kernel, case: Case, shape: str, types: tuple[str, str, str], kept: int, sparse: bool
) -> None:
    d, a, b = types
    width = bits_of(a)
    k = int(re.findall(r"\d+", shape)[2])
    count = case.n // (4 if d == "f16" else 2)
    kind = {"f16": ".b32"}.get(d, f".{d}")
    kernel.declare("d", kind, count)
    kernel.line("  ".join(f"mov{kind} %d{at}, %c{at};" for at in range(count)))
    for number, (region, layout, length, depth) in enumerate(
        (("left", case.a, 64, kept), ("right", case.b, case.n, k))
    ):
        if layout is not None:
            kernel.line(f"add.u32 %h, %{region}0, {layout.start};  bfe.u32 %h, %h, 4, 14;")
            kernel.line(f"cvt.u64.u32 %x{number}, %h;")
            kernel.line(f"or.b64 %x{number}, %x{number}, {layout.descriptor(length, depth, width):#x};")
    operands = [vector("d", count), vector("a", 4) if case.a is None else "%x0", "%x1"]
    if sparse:
        operands += ["%e0", str(case.selector)]
    operands.append(f"%q{int(case.adds)}")
    if d != "s32":
        operands += map(str, case.signs)
    if a in ("f16", "bf16"):
        operands += [str(int(one.major == "mn")) for one in (case.a, case.b) if one is not None]
    limit = ".satfinite" if case.limited else ""
    tail = ".and.popc" if a == "b1" else ""
    kernel.line("wgmma.fence.sync.aligned;")
    kernel.line(
        f"wgmma.mma_async{'.sp' if sparse else ''}.sync.aligned.{shape}{limit}.{d}.{a}.{b}{tail}"
        f" {', '.join(operands)};"
    )
    kernel.line("wgmma.commit_group.sync.aligned;")
    kernel.line("wgmma.wait_group.sync.aligned 0;")


def _store(kernel: Kernel, case: Case, label: str, type: str, found: Sequence[Sequence[Fraction]]) -> None:
    """The sum of each element of a thread with its number, from 1 on."""
    count = case.n // 2
    if type == "s32":
        kernel.declare("t", ".s32", 1)
        kernel.line("mov.b32 %t0, 0;")
        kernel.lines([f"mad.lo.s32 %t0, %d{at}, {at + 1}, %t0;" for at in range(count)], 4)
        values = [
            str(wrapped(sum(int(one) * (at + 1) for at, one in enumerate(ones)))) for ones in found
        ]
        kernel.result(label, "s32", ["%t0"], values)
        return
    kernel.declare("u", ".f32", 3)
    kernel.declare("v", ".b16", 2)
    kernel.line("mov.f32 %u0, 0f00000000;")
    if type == "f16":
        for at in range(0, count, 2):
            kernel.line(f"mov.b32 {{%v0, %v1}}, %d{at // 2};  cvt.f32.f16 %u1, %v0;  cvt.f32.f16 %u2, %v1;")
            kernel.lines([f"fma.rn.f32 %u0, %u{one}, {_literal(at + one)}, %u0;" for one in (1, 2)])
    else:
        kernel.lines([f"fma.rn.f32 %u0, %d{at}, {_literal(at + 1)}, %u0;" for at in range(count)])
    values: list[str] = []
    for ones in found:
        terms = [one * (at + 1) for at, one in enumerate(ones)]
        assert_exact([int(term * (1 << 24)) for term in terms], "f32")
        values.append(text(sum(terms, Fraction(0)), "f32"))
    kernel.result(label, "f32", ["%u0"], values)


def _literal(number: int) -> str:
    """A small whole number as `.f32`."""
    exponent = number.bit_length() - 1
    return f"0f{(126 + exponent << 23) + (number << 23 - exponent):08X}"
