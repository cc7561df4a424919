"""Video instructions for lines.py, in Python's whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tests.oracle.exact.conversions import limits, signed
from tests.oracle.exact.family import Family, ternary

_SCALAR: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b, "vsub": lambda a, b: a - b, "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min, "vmax": max,
}
_SIMD: dict[str, Callable[[int, int], int]] = {
    **_SCALAR, "vavrg": lambda a, b: a + b + (a + b >= 0) >> 1,
}
_SETS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}
_SECOND: dict[str, Callable[[int, int], int]] = {"add": lambda a, c: a + c, "min": min, "max": max}


def families() -> Iterator[Family]:
    yield from _scalar()
    yield from _shifts()
    yield from _comparisons()
    yield from _several()


def _kinds(number: int) -> tuple[str, str, str]:
    """Types of the result and of both sources, one combination after another."""
    d, x, y = ("us"[number >> at & 1] + "32" for at in (0, 1, 2))
    return d, x, y


def limited(value: int, kind: str, *, sat: bool) -> int:
    """The value, limited to a type with `.sat`; else it has 33 bits before the second operation."""
    low, high = limits(kind)
    return min(max(value, low), high) if sat else value


def _scalar() -> Iterator[Family]:
    for (name, of), number in ((one, number) for one in _SCALAR.items() for number in range(8)):
        d, x, y = _kinds(number)
        for sat in ("", ".sat"):
            def first(a: int, b: int, d: str = d, x: str = x, y: str = y, sat: str = sat,
                      of: Callable[[int, int], int] = of) -> int:
                return limited(of(signed(a, x), signed(b, y)), d, sat=bool(sat))

            yield Family(f"{name}.{d}.{x}.{y}{sat}", (x, y), (32,), first)
            second = ("add", "min", "max")[number % 3]
            yield Family(
                f"{name}.{d}.{x}.{y}{sat}.{second}", (x, y, d), (32,),
                ternary(lambda a, b, c: _SECOND[second](first(a, b), signed(c, d))),
            )


def _shifts() -> Iterator[Family]:
    for name, number, mode in product(("vshl", "vshr"), range(4), ("clamp", "wrap")):
        d, x = _kinds(number)[:2]

        def first(a: int, b: int, name: str = name, mode: str = mode, x: str = x) -> int:
            by = b & 31 if mode == "wrap" else min(b, 32)
            return signed(a, x) << by if name == "vshl" else signed(a, x) >> by

        places = (0, 1, 31, 32, 33, 100)
        yield Family(f"{name}.{d}.{x}.u32.{mode}", (x, places), (32,), first)
        yield Family(
            f"{name}.{d}.{x}.u32.{mode}.add", (x, places, d), (32,),
            ternary(lambda a, b, c: first(a, b) + c),
        )


def _comparisons() -> Iterator[Family]:
    for number, (order, of) in enumerate(_SETS.items()):
        x, y = _kinds(number)[1:]

        def first(a: int, b: int, of: Callable[[int, int], bool] = of, x: str = x, y: str = y) -> int:
            return int(of(signed(a, x), signed(b, y)))

        yield Family(f"vset.{x}.{y}.{order}", (x, y), (32,), first)
        second = ("add", "min", "max")[number % 3]
        yield Family(
            f"vset.{x}.{y}.{order}.{second}", (x, y, "u32"), (32,),
            ternary(lambda a, b, c: _SECOND[second](first(a, b), c)),
        )


def _several() -> Iterator[Family]:
    """Two or four elements; with `.add` their sum goes into c."""
    for count in (2, 4):
        bits = 32 // count
        for (name, of), number in ((one, number) for one in _SIMD.items() for number in range(8)):
            d, x, y = _kinds(number)

            def parts(a: int, b: int, bits: int = bits, x: str = x, y: str = y,
                      of: Callable[[int, int], int] = of) -> list[int]:
                mask = (1 << bits) - 1
                return [
                    of(signed(a >> at & mask, f"{x[0]}{bits}"), signed(b >> at & mask, f"{y[0]}{bits}"))
                    for at in range(0, 32, bits)
                ]

            yield Family(
                f"{name}{count}.{d}.{x}.{y}.add", (x, y, "u32"), (32,),
                ternary(lambda a, b, c: c + sum(parts(a, b))),
            )
            for sat in ("", ".sat"):
                yield Family(
                    f"{name}{count}.{d}.{x}.{y}{sat}", (x, y, "u32"), (32,),
                    ternary(lambda a, b, c: sum(
                        _cut(one, f"{d[0]}{bits}", bool(sat)) << at * bits
                        for at, one in enumerate(parts(a, b))
                    )),
                )
        for number, (order, of) in enumerate(_SETS.items()):
            x, y = _kinds(number)[1:]

            def held(a: int, b: int, bits: int = bits, x: str = x, y: str = y,
                     of: Callable[[int, int], bool] = of) -> list[int]:
                mask = (1 << bits) - 1
                return [
                    int(of(signed(a >> at & mask, f"{x[0]}{bits}"), signed(b >> at & mask, f"{y[0]}{bits}")))
                    for at in range(0, 32, bits)
                ]

            yield Family(
                f"vset{count}.{x}.{y}.{order}", (x, y, "u32"), (32,),
                ternary(lambda a, b, c: sum(
                    one << at * bits for at, one in enumerate(held(a, b))
                )),
            )
            yield Family(
                f"vset{count}.{x}.{y}.{order}.add", (x, y, "u32"), (32,),
                ternary(lambda a, b, c: c + sum(held(a, b))),
            )


def _cut(value: int, kind: str, sat: bool) -> int:
    low, high = limits(kind)
    return (min(max(value, low), high) if sat else value) & (high - low)
