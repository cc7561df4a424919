"""Conversions for lines.py."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from tests.oracle.exact.family import Family, binary, ternary, unary, width
from tests.oracle.exact.floats import (
    FORMATS,
    Number,
    decode,
    divide,
    encode,
    flushed,
    multiply,
    power,
)
from tests.oracle.exact.reals import arithmetic

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
_WHOLE = {".rni": "rn", ".rzi": "rz", ".rmi": "rm", ".rpi": "rp"}
_MODES = (".rn", ".rz", ".rm", ".rp")
_SMALL = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
Real = Number | None


def families() -> Iterator[Family]:
    yield from _between_integers()
    yield from _from_floats()
    yield from _from_integers()
    yield from _between_floats()
    yield from _to_small()
    yield from _from_small()
    yield from _four_at_once()


def signed(bits: int, kind: str) -> int:
    """The integer that bits stand for."""
    top = 1 << width(kind) - 1
    return (bits ^ top) - top if kind[0] == "s" else bits


def limits(kind: str) -> tuple[int, int]:
    bits = width(kind)
    return (-1 << bits - 1, (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)


def _between_integers() -> Iterator[Family]:
    for to, of in product(INTEGERS, INTEGERS):
        low, high = limits(to)
        yield Family(f"cvt.{to}.{of}", (of,), (width(to),), unary(lambda a: signed(a, of)))
        if limits(of)[0] < low or limits(of)[1] > high:
            yield Family(
                f"cvt.sat.{to}.{of}", (of,), (width(to),),
                unary(lambda a: min(max(signed(a, of), low), high)),
            )


def _from_floats() -> Iterator[Family]:
    """To an integer, rounded, and limited to what it holds."""
    for number, (to, of) in enumerate(product(INTEGERS, ("f16", "bf16", "f32", "f64"))):
        if of == "bf16" and width(to) == 8:
            continue  # it wants a register of 8 bits, which the kernels around lines do not have
        for way in (list(_WHOLE)[number % 4], list(_WHOLE)[(number // 4 + 1) % 4]):
            for ftz in ("", ".ftz") if of == "f32" else ("",):
                def whole(a: int, to: str = to, of: str = of, way: str = way, ftz: str = ftz) -> int:
                    found = decode(a, of)
                    return integer(flushed(found, of) if ftz else found, to, way, of)

                yield Family(f"cvt{way}{ftz}.{to}.{of}", (of,), (width(to),), whole)


def integer(number: Real, to: str, way: str, of: str) -> int:
    low, high = limits(to)
    if number is None:  # PTX ISA, "cvt"
        return 1 << width(to) - 1 if of == "f64" or width(to) == 64 else 0
    if number.size is None:
        return low if number.negative else high
    return min(max(_rounded(number.value, _WHOLE[way]), low), high)


def _rounded(value: Fraction, mode: str) -> int:
    match mode:
        case "rn":
            return round(value)
        case "rz":
            return int(value)
        case "rm":
            return value.__floor__()
        case _:
            return value.__ceil__()


def _from_integers() -> Iterator[Family]:
    for number, (to, of) in enumerate(product(("f16", "bf16", "f32", "f64"), INTEGERS)):
        if to == "bf16" and width(of) == 8:
            continue
        for at, mode in enumerate(_MODES):
            sat = ".sat" if at == number % 4 and to != "bf16" else ""

            def oracle(a: int, to: str = to, of: str = of, mode: str = mode, sat: str = sat) -> int:
                value = signed(a, of)
                real = Number(value < 0, Fraction(abs(value)))
                return encode(real, to, mode[1:], frozenset([sat[1:]]))

            yield Family(f"cvt{mode}{sat}.{to}.{of}", (of,), (width(to),), oracle)


def _between_floats() -> Iterator[Family]:
    for to, of in (("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"),
                   ("f16", "bf16"), ("bf16", "f16")):
        for mode in _MODES:
            yield _converted(mode, "", to, of)
        if "bf16" not in (to, of):
            yield _converted(".rn", ".sat", to, of)
            if "f32" in (to, of):
                yield _converted(".rz", ".ftz", to, of)
    for to in ("f16", "bf16", "tf32"):
        for mode, more in product((".rn", ".rz"), (".relu", ".satfinite", ".pzo", ".relu.satfinite")):
            if (to, more) != ("tf32", ".relu.satfinite"):
                yield _converted(mode, more, to, "f32")
    for mode in _MODES:
        yield _converted(mode, ".pzo", "f16", "f32")
    yield _converted(".rna", "", "tf32", "f32")
    yield _converted(".rna", ".satfinite", "tf32", "f32")
    for to, of in (("f32", "f16"), ("f64", "f32"), ("f64", "f16"), ("f32", "bf16"), ("f64", "bf16")):
        yield _converted("", "", to, of)
        if of != "bf16":
            yield _converted("", ".sat", to, of)
        if "f32" in (to, of):
            yield _converted("", ".ftz", to, of)
    for kind, way, more in product(("f16", "f32", "f64", "bf16"), ("", *_WHOLE), ("", ".sat")):
        if kind == "bf16" and (more or not way):
            continue
        yield _whole(kind, way, more)
        if kind == "f32":
            yield _whole(kind, way, f".ftz{more}")
    for to, mode, more in product(("f16", "bf16"), (".rn", ".rz"), ("", ".relu", ".satfinite", ".pzo")):
        yield _pair(to, mode, more)


def _converted(mode: str, more: str, to: str, of: str) -> Family:
    modifiers = frozenset(more.split(".")[1:])

    def oracle(a: int) -> int | None:
        number = decode(a, of)
        if "ftz" in modifiers and of == "f32":
            number = flushed(number, of)
        if number is None and to == "f64" and "sat" not in modifiers:
            return None
        return encode(number, to, mode[1:] or "rn", modifiers if to == "f32" else modifiers - {"ftz"})

    return Family(f"cvt{mode}{more}.{to}.{of}", (of,), (width(to),), oracle)


def _whole(kind: str, way: str, more: str) -> Family:
    """To an integer that stays a float."""
    modifiers = frozenset(more.split(".")[1:])

    def oracle(a: int) -> int | None:
        number = decode(a, kind)
        if "ftz" in modifiers:
            number = flushed(number, kind)
        if number is None and "sat" not in modifiers:
            return None if kind == "f64" or not way else FORMATS[kind].nan
        if way and number is not None and number.size is not None:
            value = _rounded(number.value, _WHOLE[way])
            number = Number(number.negative, Fraction(abs(value)))
        return encode(number, kind, "rn", modifiers)

    return Family(f"cvt{way}{more}.{kind}.{kind}", (kind,), (width(kind),), oracle)


def _pair(to: str, mode: str, more: str) -> Family:
    """Two `.f32` side by side."""
    modifiers = frozenset(more.split(".")[1:])

    def oracle(a: int, b: int) -> int:
        upper, lower = (encode(decode(one, "f32"), to, mode[1:], modifiers) for one in (a, b))
        return upper << 16 | lower

    return Family(f"cvt{mode}{more}.{to}x2.f32", ("f32", "f32"), (32,), oracle)


def _to_small() -> Iterator[Family]:
    for to, mode, more in product(_SMALL, (".rn", ".rz"), ("", ".relu", ".pzo")):
        modifiers = frozenset(["satfinite", more[1:]])
        bits = max(FORMATS[to].width, 4)
        shift = 4 if bits == 4 else 8

        def both(
            a: Real, b: Real, to: str = to, mode: str = mode, modifiers: frozenset[str] = modifiers,
            shift: int = shift,
        ) -> int:
            return encode(a, to, mode[1:], modifiers) << shift | encode(b, to, mode[1:], modifiers)

        name = f"cvt{mode}.satfinite{more}"
        yield Family(
            f"{name}.{to}x2.f32", ("f32", "f32"), (2 * shift,),
            binary(lambda a, b: both(decode(a, "f32"), decode(b, "f32"))),
        )
        yield Family(
            f"{name}.scaled::n1::ue8m0.{to}x2.f32", ("f32", "f32", _SCALES), (2 * shift,),
            ternary(lambda a, b, c: both(_taken(a, "f32", c), _taken(b, "f32", c))),
        )
        for of in ("f16", "bf16"):
            yield Family(
                f"{name}.{to}x2.{of}x2", (f"{of}x2",), (2 * shift,),
                unary(lambda a: both(decode(a >> 16, of), decode(a & 0xFFFF, of))),
            )
            yield Family(
                f"{name}.scaled::n1::ue8m0.{to}x2.{of}x2", (f"{of}x2", _SCALES), (2 * shift,),
                binary(lambda a, c: both(_taken(a >> 16, of, c), _taken(a & 0xFFFF, of, c))),
            )
    for mode, more in product((".rz", ".rp"), ("", ".satfinite")):
        yield _scales(mode, more)


_SCALES = (0x7F, 0x80, 0x7C, 0x83)
"""Scales near 1."""


def _over(bits: int, of: str, scale: int, *, flushes: bool = False) -> Real:
    """A number over a scale; `.scaled::n1` takes subnormal numbers as zeros."""
    number = decode(bits, of)
    return divide(flushed(number, of) if flushes else number, Number(False, power(scale - 127)))


def _taken(bits: int, of: str, scale: int) -> Real:
    return _over(bits, of, scale, flushes=True)


def _scales(mode: str, more: str) -> Family:
    def one(bits: int) -> int | None:
        number = decode(bits, "f32")
        if number is None:
            return 0xFF
        if number.negative or not number.size:
            return None  # it has neither sign nor zero
        return encode(number, "ue8m0", mode[1:], frozenset([more[1:]]))

    def oracle(a: int, b: int) -> int | None:
        upper, lower = one(a), one(b)
        return None if upper is None or lower is None else upper << 8 | lower

    return Family(f"cvt{mode}{more}.ue8m0x2.f32", ("f32", "f32"), (16,), oracle)


def _from_small() -> Iterator[Family]:
    for of, more, to in product((*_SMALL, "ue5m3"), ("", ".relu"), ("f16", "bf16")):
        shift = 4 if of == "e2m1" else 8
        kind = range(1 << 2 * shift) if FORMATS[of].width != 6 else _SIXES
        if of == "ue5m3" and more:
            continue

        def oracle(a: int, scale: int = 0x7F7F, of: str = of, more: str = more, to: str = to,
                   shift: int = shift) -> int:
            found = 0
            for bits, by in ((a >> shift, scale >> 8), (a & (1 << shift) - 1, scale & 0xFF)):
                real = multiply(decode(bits, of), Number(False, power(by - 127)))
                found = found << 16 | encode(real, to, "rn", frozenset([more[1:]]))
            return found

        yield Family(f"cvt.rn{more}.{to}x2.{of}x2", (kind,), (32,), unary(lambda a: oracle(a)))
        if to == "bf16":
            name = f"cvt.rn{more}.scaled::n2::ue8m0.{to}x2.{of}x2"
            yield Family(name, (kind, (0x7F7F, 0x8070, 0x7D90)), (32,), oracle)
    yield Family(
        "cvt.rn.bf16x2.ue8m0x2", (tuple(high << 8 | 0x7F for high in range(1, 255)),), (32,),
        unary(
            lambda a: encode(decode(a >> 8, "ue8m0"), "bf16") << 16
            | encode(decode(a & 0xFF, "ue8m0"), "bf16")
        ),
    )
    yield from _fixed()
    yield from _unsigned()


_SIXES = tuple(high << 8 | low for high in range(0, 64, 5) for low in range(0, 64, 7))


def _fixed() -> Iterator[Family]:
    """`.s2f6`: an integer of 8 bits over 64."""
    for mode, more in product((".rn", ".rz"), ("", ".relu")):
        def two(a: Real, b: Real, mode: str = mode, more: str = more) -> int | None:
            if a is None or b is None:
                return None
            return _point(a, mode, more) << 8 | _point(b, mode, more)

        name = f"cvt{mode}.satfinite{more}"
        yield Family(
            f"{name}.s2f6x2.f32", ("f32", "f32"), (16,),
            binary(lambda a, b: two(decode(a, "f32"), decode(b, "f32"))),
        )
        yield Family(
            f"{name}.scaled::n2::ue8m0.s2f6x2.f32", ("f32", "f32", (0x7F80, 0x7E7F)), (16,),
            ternary(lambda a, b, c: two(_over(a, "f32", c >> 8), _over(b, "f32", c & 0xFF))),
        )
        yield Family(
            f"{name}.s2f6x2.bf16x2", ("bf16x2",), (16,),
            unary(lambda a: two(decode(a >> 16, "bf16"), decode(a & 0xFFFF, "bf16"))),
        )
        yield Family(
            f"{name}.scaled::n2::ue8m0.s2f6x2.bf16x2", ("bf16x2", (0x7F80, 0x7E7F)), (16,),
            binary(lambda a, c: two(_over(a >> 16, "bf16", c >> 8), _over(a & 0xFFFF, "bf16", c & 0xFF))),
        )
    for more in ("", ".relu", ".satfinite"):
        def wide(a: int, scale: int = 0x7F7F, more: str = more) -> int:
            found = 0
            for bits, by in ((a >> 8, scale >> 8), (a & 0xFF, scale & 0xFF)):
                value = Fraction(signed(bits, "s8"), 64) * power(by - 127)
                number = Number(value < 0, abs(value))
                found = found << 16 | encode(number, "bf16", "rn", frozenset([more[1:]]))
            return found

        pairs = tuple(high << 8 | low for high in range(0, 256, 17) for low in (0, 1, 64, 127, 128, 255))
        yield Family(f"cvt.rn{more}.bf16x2.s2f6x2", (pairs,), (32,), unary(lambda a: wide(a)))
        yield Family(
            f"cvt.rn{more}.scaled::n2::ue8m0.bf16x2.s2f6x2", (pairs, (0x7F80, 0x7E7F)), (32,), wide
        )


def _point(number: Number, mode: str, more: str) -> int:
    if number.size is None:
        whole = -128 if number.negative else 127
    else:
        whole = min(max(_rounded(number.value * 64, mode[1:]), -128), 127)
    return (max(whole, 0) if more else whole) & 0xFF


def _unsigned() -> Iterator[Family]:
    """`.ue5m3`, which has no sign."""
    for mode, more in product((".rn", ".rz", ".rp"), ("", ".satfinite")):
        def two(a: Real, b: Real, mode: str = mode, more: str = more) -> int | None:
            if any(one is not None and one.negative for one in (a, b)):
                return None  # the manual leaves open what becomes of negative numbers
            upper, lower = (encode(one, "ue5m3", mode[1:], frozenset([more[1:]])) for one in (a, b))
            return upper << 8 | lower

        name = f"cvt{mode}{more}"
        yield Family(
            f"{name}.ue5m3x2.f32", ("f32", "f32"), (16,),
            binary(lambda a, b: two(decode(a, "f32"), decode(b, "f32"))),
        )
        if mode != ".rp":
            yield Family(
                f"{name}.scaled::n1::ue8m0.ue5m3x2.f32", ("f32", "f32", _SCALES), (16,),
                ternary(lambda a, b, c: two(_taken(a, "f32", c), _taken(b, "f32", c))),
            )
        for of in ("f16", "bf16"):
            yield Family(
                f"{name}.ue5m3x2.{of}x2", (f"{of}x2",), (16,),
                unary(lambda a: two(decode(a >> 16, of), decode(a & 0xFFFF, of))),
            )
            if mode != ".rp":
                yield Family(
                    f"{name}.scaled::n1::ue8m0.ue5m3x2.{of}x2", (f"{of}x2", _SCALES), (16,),
                    binary(lambda a, c: two(_taken(a >> 16, of, c), _taken(a & 0xFFFF, of, c))),
                )


def _four_at_once() -> Iterator[Family]:
    """Arithmetic on four floats of 8 bits."""
    for name, kind, more in product(("add", "sub", "mul", "fma"), ("e4m3", "e5m2"), ("", ".satfinite")):
        family = arithmetic(name, ".rn", more, f"{kind}x4")
        yield family._replace(spelling=f"{name}.rn{more}" + f".{kind}x4" * (2 if name[0] in "as" else 3))
