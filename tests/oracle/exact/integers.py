"""Integer and logic instructions for lines.py, in Python's whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tests.oracle.exact.conversions import limits, signed
from tests.oracle.exact.family import Family, binary, each, packed, ternary, unary, width

_SIX = ("u16", "u32", "u64", "s16", "s32", "s64")
_PACKED = ("u16x2", "s16x2", "u8x4", "s8x4")


_One = Callable[[int], int] | Callable[[int, int], int] | Callable[[int, int, int], int]


def families() -> Iterator[Family]:
    yield from _sums()
    yield from _products()
    yield from _orders()
    yield from _bits()
    yield from _fields()
    yield from _dot_products()
    yield from _logic()


def family(spelling: str, kind: str, count: int, one: _One, *, wide: int = 0) -> Family:
    """Operands of one kind, as integers with their signs; the result is cut to their size."""
    element = kind.partition("x")[0]
    bits = width(element)

    def oracle(*operands: int) -> int | None:
        found = (one(*(signed(a, element) for a in elements)) for elements in each(kind, *operands))
        return packed((a & (1 << (wide or bits)) - 1 for a in found), bits) if not wide else next(found)

    return Family(spelling, (kind,) * count, (wide or bits * int(kind.partition("x")[2] or 1),), oracle)


def limited(kind: str, value: int) -> int:
    low, high = limits(kind.partition("x")[0])
    return min(max(value, low), high)


def _sums() -> Iterator[Family]:
    for kind in (*_SIX, *_PACKED):
        yield family(f"add.{kind}", kind, 2, binary(lambda a, b: a + b))
        if kind not in ("u16", "u64", "s16", "s64"):
            yield family(f"add.sat.{kind}", kind, 2, binary(lambda a, b: limited(kind, a + b)))
        if kind not in ("u16x2", "s16x2"):
            yield family(f"sub.{kind}", kind, 2, binary(lambda a, b: a - b))
    for kind in ("s32", "u8x4", "s8x4"):
        yield family(f"sub.sat.{kind}", kind, 2, binary(lambda a, b: limited(kind, a - b)))
    for kind in _SIX:
        yield family(f"sad.{kind}", kind, 3, ternary(lambda a, b, c: c + abs(a - b)))


def _products() -> Iterator[Family]:
    for kind in _SIX:
        bits = width(kind)
        def high(a: int, b: int, c: int = 0, bits: int = bits) -> int:
            return (a * b >> bits) + c

        for name, count in (("mul", 2), ("mad", 3)):
            yield family(f"{name}.lo.{kind}", kind, count, _product)
            yield family(f"{name}.hi.{kind}", kind, count, high)
        if bits < 64:
            yield family(f"mul.wide.{kind}", kind, 2, binary(lambda a, b: a * b), wide=2 * bits)
            yield Family(
                f"mad.wide.{kind}", (kind, kind, f"{kind[0]}{2 * bits}"), (2 * bits,),
                ternary(lambda a, b, c: signed(a, kind) * signed(b, kind) + c),
            )
    yield family("mad.hi.sat.s32", "s32", 3, ternary(lambda a, b, c: limited("s32", (a * b >> 32) + c)))
    for kind in ("u32", "s32"):
        def low(a: int, kind: str = kind) -> int:
            top = 1 << 23
            return ((a & 0xFFFFFF) ^ top) - top if kind[0] == "s" else a & 0xFFFFFF

        def product_of_lows(a: int, b: int, c: int = 0, low: Callable[[int], int] = low) -> int:
            return low(a) * low(b) + c

        def upper(a: int, b: int, c: int = 0, low: Callable[[int], int] = low) -> int:
            return (low(a) * low(b) >> 16) + c

        for name, count in (("mul24", 2), ("mad24", 3)):
            yield family(f"{name}.lo.{kind}", kind, count, product_of_lows)
            yield family(f"{name}.hi.{kind}", kind, count, upper)
        if kind == "s32":
            yield family(
                "mad24.hi.sat.s32", kind, 3,
                ternary(lambda a, b, c: limited("s32", upper(a, b) + c)),
            )
    for mode, kind in product(("lo", "hi"), ("u64", "s64")):
        yield Family(
            f"clmad.{mode}.{kind}", (kind,) * 3, (64,),
            ternary(lambda a, b, c: (carryless(a, b) >> (64 if mode == "hi" else 0) ^ c) & (1 << 64) - 1),
        )
    for kind in _SIX:
        for name in ("div", "rem"):
            yield _quotient(name, kind)


def _product(a: int, b: int, c: int = 0) -> int:
    return a * b + c


def carryless(a: int, b: int) -> int:
    """The product of polynomials over GF(2)."""
    found = 0
    for at in range(64):
        if b >> at & 1:
            found ^= a << at
    return found


def _quotient(name: str, kind: str) -> Family:
    def oracle(a: int, b: int) -> int | None:
        x, y = signed(a, kind), signed(b, kind)
        if y == 0 or (y == -1 and x == limits(kind)[0]):
            return None
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return quotient if name == "div" else x - quotient * y

    return Family(f"{name}.{kind}", (kind, kind), (width(kind),), oracle)


def _orders() -> Iterator[Family]:
    for kind in (*_SIX, *_PACKED):
        for name, of in (("min", min), ("max", max)):
            yield family(f"{name}.{kind}", kind, 2, binary(lambda a, b: of(a, b)))
            if kind in ("s32", "s16x2", "s8x4"):
                yield family(f"{name}.relu.{kind}", kind, 2, binary(lambda a, b: max(of(a, b), 0)))
    for kind in ("s16", "s32", "s64"):
        yield family(f"abs.{kind}", kind, 1, abs)
    for kind in ("s16", "s32", "s64", "s8x4"):
        yield family(f"neg.{kind}", kind, 1, unary(lambda a: -a))


def _bits() -> Iterator[Family]:
    for bits in (32, 64):
        kind = f"b{bits}"
        yield Family(f"popc.{kind}", (kind,), (32,), unary(lambda a: a.bit_count()))
        yield Family(f"clz.{kind}", (kind,), (32,), unary(lambda a: bits - a.bit_length()))
        yield Family(
            f"brev.{kind}", (kind,), (bits,), unary(lambda a: int(f"{a:0{bits}b}"[::-1], 2))
        )
    for kind in ("u32", "u64", "s32", "s64"):
        bits = width(kind)

        def first(a: int, kind: str = kind) -> int:
            value = signed(a, kind)
            return (~value if value < 0 else value).bit_length() - 1

        yield Family(f"bfind.{kind}", (kind,), (32,), first)
        yield Family(
            f"bfind.shiftamt.{kind}", (kind,), (32,),
            unary(lambda a: -1 if first(a) < 0 else bits - 1 - first(a)),
        )
    yield Family("fns.b32", ("b32", range(32), (-9, -2, -1, 0, 1, 2, 7)), (32,), nth)


def nth(mask: int, start: int, offset: int) -> int:
    """The place of the n-th set bit, counted from `start` up or, below 0, down."""
    if offset == 0:
        return start if mask >> start & 1 else -1
    way = range(start, 32) if offset > 0 else range(start, -1, -1)
    found = [at for at in way if mask >> at & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else -1


_PLACES = (0, 1, 7, 31, 32, 33, 63, 64, 255, 256 + 3)


def _fields() -> Iterator[Family]:
    for kind in ("u32", "u64", "s32", "s64"):
        yield Family(f"bfe.{kind}", (kind, _PLACES, _PLACES), (width(kind),), _extracted(kind))
    for bits in (32, 64):
        yield Family(f"bfi.b{bits}", (f"b{bits}", f"b{bits}", _PLACES, _PLACES), (bits,), _inserted(bits))
    for mode in ("clamp", "wrap"):
        def count(b: int, mode: str = mode) -> int:
            return b & 31 if mode == "wrap" else min(b, 32)

        for kind in ("u32", "s32"):
            def extended(a: int, b: int, kind: str = kind, count: Callable[[int], int] = count) -> int:
                size = count(b)
                low = a & (1 << size) - 1
                return low - (1 << size) if size and kind[0] == "s" and low >> size - 1 else low

            yield Family(f"szext.{mode}.{kind}", (kind, _PLACES), (32,), extended)
        yield Family(
            f"bmsk.{mode}.b32", (_PLACES, _PLACES), (32,),
            binary(lambda a, b: ((1 << count(b)) - 1) << count(a)),
        )


def _extracted(kind: str) -> Callable[[int, int, int], int]:
    bits = width(kind)

    def oracle(a: int, b: int, c: int) -> int:
        start, size = b & 255, c & 255
        sign = 0 if kind[0] == "u" or size == 0 else a >> min(start + size - 1, bits - 1) & 1
        found = 0
        for at in range(bits):
            bit = a >> start + at & 1 if at < size and start + at < bits else sign
            found |= bit << at
        return found

    return oracle


def _inserted(bits: int) -> Callable[[int, int, int, int], int]:
    def oracle(a: int, b: int, c: int, d: int) -> int:
        found = b
        for at in range(min(d & 255, bits)):
            if (c & 255) + at < bits:
                place = 1 << (c & 255) + at
                found = found & ~place | (place if a >> at & 1 else 0)
        return found

    return oracle


def _dot_products() -> Iterator[Family]:
    for x, y in product(("u32", "s32"), ("u32", "s32")):
        def fours(a: int, b: int, c: int, x: str = x, y: str = y) -> int:
            return c + sum(
                signed(a >> at & 255, f"{x[0]}8") * signed(b >> at & 255, f"{y[0]}8") for at in (0, 8, 16, 24)
            )

        kinds = (x, y, "s32" if "s32" in (x, y) else "u32")
        yield Family(f"dp4a.{x}.{y}", kinds, (32,), fours)
        for mode in ("lo", "hi"):
            def pairs(a: int, b: int, c: int, x: str = x, y: str = y, mode: str = mode) -> int:
                b >>= 16 if mode == "hi" else 0
                return c + sum(
                    signed(a >> 16 * at & 0xFFFF, f"{x[0]}16") * signed(b >> 8 * at & 255, f"{y[0]}8")
                    for at in (0, 1)
                )

            yield Family(f"dp2a.{mode}.{x}.{y}", kinds, (32,), pairs)


def _logic() -> Iterator[Family]:
    for kind in ("pred", "b16", "b32", "b64"):
        bits = width(kind)
        yield Family(f"and.{kind}", (kind, kind), (bits,), binary(lambda a, b: a & b))
        yield Family(f"or.{kind}", (kind, kind), (bits,), binary(lambda a, b: a | b))
        yield Family(f"xor.{kind}", (kind, kind), (bits,), binary(lambda a, b: a ^ b))
        yield Family(f"not.{kind}", (kind,), (bits,), unary(lambda a: ~a))
        if kind != "pred":
            yield Family(f"cnot.{kind}", (kind,), (bits,), unary(lambda a: int(a == 0)))
            yield Family(
                f"shl.{kind}", (kind, _PLACES), (bits,), binary(lambda a, b: a << b if b < bits else 0)
            )
    for kind in ("b16", "b32", "b64", *_SIX):
        yield Family(
            f"shr.{kind}", (kind, _PLACES), (width(kind),),
            binary(lambda a, b: signed(a, kind) >> min(b, 64)),
        )
    for table in (0x00, 0x1B, 0x96, 0xCA, 0xE8):
        yield Family("lop3.b32", ("b32", "b32", "b32", (table,)), (32,), looked_up)
    for way, mode in product("lr", ("clamp", "wrap")):
        yield Family(f"shf.{way}.{mode}.b32", ("b32", "b32", _PLACES), (32,), _funnel(way, mode))
    yield Family("prmt.b32", ("b32", "b32", "u16"), (32,), selected)
    for mode, order in _PERMUTED.items():
        yield Family(
            f"prmt.b32.{mode}", ("b32", "b32", (0, 1, 2, 3)), (32,),
            ternary(lambda a, b, c: int.from_bytes(_bytes(a, b)[at] for at in order[c])),
        )


def _bytes(a: int, b: int) -> bytes:
    return (b << 32 | a).to_bytes(8, "little")


def selected(a: int, b: int, c: int) -> int:
    """Four bytes by the nibbles of c; one whose uppermost bit is set spreads the sign of its byte."""
    found = 0
    for at in range(4):
        nibble = c >> 4 * at & 15
        byte = _bytes(a, b)[nibble & 7]
        found |= (byte if nibble < 8 else 255 * (byte >> 7)) << 8 * at
    return found


_PERMUTED = {
    "f4e": ((3, 2, 1, 0), (4, 3, 2, 1), (5, 4, 3, 2), (6, 5, 4, 3)),
    "b4e": ((5, 6, 7, 0), (6, 7, 0, 1), (7, 0, 1, 2), (0, 1, 2, 3)),
    "rc8": ((0,) * 4, (1,) * 4, (2,) * 4, (3,) * 4),
    "ecl": ((3, 2, 1, 0), (3, 2, 1, 1), (3, 2, 2, 2), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (1, 1, 1, 0), (2, 2, 1, 0), (3, 2, 1, 0)),
    "rc16": ((1, 0, 1, 0), (3, 2, 3, 2), (1, 0, 1, 0), (3, 2, 3, 2)),
}
"""Which bytes each mode takes, the uppermost first: the manual's table."""


def looked_up(a: int, b: int, c: int, table: int) -> int:
    found = 0
    for at in range(32):
        found |= (table >> ((a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1) & 1) << at
    return found


def _funnel(way: str, mode: str) -> Callable[[int, int, int], int]:
    def oracle(a: int, b: int, c: int) -> int:
        by = c & 31 if mode == "wrap" else min(c, 32)
        both = b << 32 | a
        return both << by >> 32 if way == "l" else both >> by

    return oracle
