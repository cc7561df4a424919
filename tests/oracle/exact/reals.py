"""Floating-point arithmetic and comparison for lines.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tests.oracle.exact.family import Family, Oracle, binary, each, packed, unary, width
from tests.oracle.exact.floats import (
    FORMATS,
    Number,
    add,
    decode,
    divide,
    encode,
    flushed,
    multiply,
    root,
)

MODES = ("", ".rn", ".rz", ".rm", ".rp")
_FTZ_SAT = ("", ".ftz", ".sat", ".ftz.sat")
Real = Number | None
Operation = Callable[..., Real]


def _sub(a: Real, b: Real, mode: str) -> Real:
    return add(a, b and b.flipped(), mode)


def _mul(a: Real, b: Real, mode: str) -> Real:
    return multiply(a, b)


def _fma(a: Real, b: Real, c: Real, mode: str) -> Real:
    return add(multiply(a, b), c, mode)


def _div(a: Real, b: Real, mode: str) -> Real:
    return divide(a, b)


def _rcp(a: Real, mode: str) -> Real:
    return divide(decode(0x3F800000, "f32"), a)


def _root(a: Real, mode: str) -> Real:
    return root(a)


OPERATIONS: dict[str, tuple[Operation, int]] = {
    "add": (add, 2), "sub": (_sub, 2), "mul": (_mul, 2), "fma": (_fma, 3), "mad": (_fma, 3),
    "div": (_div, 2), "rcp": (_rcp, 1), "sqrt": (_root, 1),
}


def families() -> Iterator[Family]:
    """Arithmetic that is rounded once, minimum and maximum, signs."""
    for name in ("add", "sub", "mul", "fma", "mad", "div", "rcp", "sqrt"):
        needed = name not in ("add", "sub", "mul")
        for mode in MODES[needed:]:
            for more in ("", ".ftz") if name in ("div", "rcp", "sqrt") else _FTZ_SAT:
                yield arithmetic(name, mode, more, "f32")
            yield arithmetic(name, mode, "", "f64")
            if name in ("add", "sub", "mul", "fma"):
                yield arithmetic(name, mode, "", "f32x2")
                yield arithmetic(name, mode, ".ftz", "f32x2")
    for name, kind in product(("add", "sub", "mul", "fma"), ("f16", "f16x2")):
        for mode in ("", ".rn")[name == "fma":]:
            for more in _FTZ_SAT + ((".relu", ".ftz.relu") if name == "fma" else ()):
                yield arithmetic(name, mode, more, kind)
    for name, kind in product(("add", "sub", "mul"), ("bf16", "bf16x2")):
        yield arithmetic(name, "", "", kind)
        yield arithmetic(name, ".rn", "", kind)
    for kind, more in product(("bf16", "bf16x2"), ("", ".relu")):
        yield arithmetic("fma", ".rn", more, kind)
    yield from _mixed()
    yield from _least_and_most()
    yield from _signs()


def arithmetic(name: str, mode: str, more: str, kind: str) -> Family:
    operation, count = OPERATIONS[name]
    element = kind.partition("x")[0]
    modifiers = frozenset(more.split(".")[1:])
    rounding = mode[1:] or "rn"

    def one(*operands: int) -> int | None:
        numbers = [decode(bits, element) for bits in operands]
        if "ftz" in modifiers:
            numbers = [flushed(number, element) for number in numbers]
        found = operation(*numbers, rounding)
        if found is None and element == "f64":
            return None  # its payload is nobody's promise
        return encode(found, element, rounding, modifiers)

    return _family(f"{name}{mode}{more}.{kind}", kind, count, one)


def _family(spelling: str, kind: str, count: int, one: Callable[..., int | None]) -> Family:
    """A family whose operands and result are of one kind, computed element by element."""
    bits = width(kind.partition("x")[0])

    def oracle(*operands: int) -> int | None:
        return packed((one(*elements) for elements in each(kind, *operands)), bits)

    return Family(spelling, (kind,) * count, (bits * int(kind.partition("x")[2] or 1),), oracle)


def _mixed() -> Iterator[Family]:
    """`.f32` from a sum or product of smaller floats."""
    for name, kind, mode, sat in product(
        ("add", "sub", "fma"), ("f16", "bf16"), MODES[1:], ("", ".sat")
    ):
        operation, count = OPERATIONS[name]

        def oracle(
            *operands: int, operation: Operation = operation, kind: str = kind, mode: str = mode,
            sat: str = sat,
        ) -> int:
            *small, last = operands
            numbers = [*(decode(one, kind) for one in small), decode(last, "f32")]
            found = operation(*numbers, mode[1:])
            return encode(found, "f32", mode[1:], frozenset([sat[1:]]))

        yield Family(f"{name}{mode}{sat}.f32.{kind}", (*[kind] * (count - 1), "f32"), (32,), oracle)


def _least_and_most() -> Iterator[Family]:
    for name in ("min", "max"):
        yield _chosen(name, "", "f64", 2)
        for ftz, nan in product(("", ".ftz"), ("", ".NaN")):
            for more, count in (("", 2), (".xorsign.abs", 2), ("", 3), (".abs", 3)):
                yield _chosen(name, ftz + nan + more, "f32", count)
            for more, kind in product(("", ".xorsign.abs"), ("f16", "f16x2")):
                yield _chosen(name, ftz + nan + more, kind, 2)
        for nan, more, kind in product(("", ".NaN"), ("", ".xorsign.abs"), ("bf16", "bf16x2")):
            yield _chosen(name, nan + more, kind, 2)


def _chosen(name: str, more: str, kind: str, count: int) -> Family:
    element = kind.partition("x")[0]
    sign = 1 << width(element) - 1

    def one(*operands: int) -> int | None:
        numbers = [decode(bits, element) for bits in operands]
        if ".ftz" in more:
            numbers = [flushed(number, element) for number in numbers]
        present = [number for number in numbers if number is not None]
        if ".xorsign" in more and len(present) < len(numbers):
            return None  # the manual does not tell the sign of a NaN
        if not present or (".NaN" in more and len(present) < len(numbers)):
            return None if element == "f64" else FORMATS[element].nan
        bits = [encode(number, element) for number in present]
        signs = sum(one & sign for one in bits) & sign
        if ".abs" in more:
            bits = [one & ~sign for one in bits]
        choose = min if name == "min" else max
        found = choose(bits, key=lambda one: -(one ^ sign) if one & sign else one + 1)
        return found | signs if ".xorsign" in more else found

    return _family(f"{name}{more}.{kind}", kind, count, one)


def _signs() -> Iterator[Family]:
    """`abs`, `neg`, `copysign`, and `testp`; NaN is left out where its bits are open."""
    for kind in ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2"):
        for name, ftz in product(("abs", "neg"), ("", ".ftz") if kind[0] == "f" and kind != "f64" else ("",)):
            yield _signed(name, ftz, kind)
    for kind in ("f32", "f64"):
        sign = 1 << width(kind) - 1
        yield Family(
            f"copysign.{kind}", (kind, kind), (width(kind),),
            binary(lambda a, b: (a & sign) | (b & ~sign)),
        )
        for name, test in _TESTS.items():
            yield Family(
                f"testp.{name}.{kind}", (kind,), (1,), unary(lambda a: int(test(a, kind)))
            )


def _signed(name: str, ftz: str, kind: str) -> Family:
    element = kind.partition("x")[0]
    sign = 1 << width(element) - 1

    def one(bits: int) -> int | None:
        number = decode(bits, element)
        if number is None:
            return None
        raw = encode(flushed(number, element) if ftz else number, element)
        return raw & ~sign if name == "abs" else raw ^ sign

    return _family(f"{name}{ftz}.{kind}", kind, 1, one)


def _finite(bits: int, kind: str) -> bool:
    number = decode(bits, kind)
    return number is not None and number.size is not None


def _infinite(bits: int, kind: str) -> bool:
    number = decode(bits, kind)
    return number is not None and number.size is None


def _subnormal(bits: int, kind: str) -> bool:
    number = decode(bits, kind)
    return number != flushed(number, kind)


def _normal(bits: int, kind: str) -> bool:
    number = decode(bits, kind)
    return number is not None and number.size is not None and not _subnormal(bits, kind)


_TESTS: dict[str, Callable[[int, str], bool]] = {
    "finite": _finite, "infinite": _infinite, "number": lambda a, kind: decode(a, kind) is not None,
    "notanumber": lambda a, kind: decode(a, kind) is None, "normal": _normal, "subnormal": _subnormal,
}


def comparisons() -> Iterator[Family]:
    """`set` and `setp`, with and without a predicate."""
    for order, more in product((*_ORDERS, *(f"{one}u" for one in _ORDERS), "num", "nan"), ("", ".ftz")):
        for kind in ("f32", "f64", "f16", "f16x2", "bf16", "bf16x2"):
            if more and kind not in ("f32", "f16", "f16x2"):
                continue
            element, _, count = kind.partition("x")
            for logic in ("", (".and", ".or", ".xor")[len(order + kind) % 3]):
                yield from _compared(order, logic, more, kind, element, bool(count))
    for order in ("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"):
        for kind in ("u16", "u32", "u64", "s16", "s32", "s64"):
            if kind[0] == "s" and order in ("lo", "ls", "hi", "hs"):
                continue
            yield from _integers(order, kind)


_ORDERS = ("eq", "ne", "lt", "le", "gt", "ge")
_SIGNS = {"eq": (0,), "ne": (-1, 1), "lt": (-1,), "le": (-1, 0), "gt": (1,), "ge": (0, 1)}
"""Which signs of the difference satisfy an order."""


def holds(order: str, a: Real, b: Real) -> bool:
    if order in ("num", "nan") or a is None or b is None:
        missing = a is None or b is None
        return missing if order == "nan" or order.endswith("u") else not missing and order == "num"
    low, high = _place(a), _place(b)
    return (low > high) - (low < high) in _SIGNS[order.removesuffix("u")]


def _place(number: Number) -> tuple[int, object]:
    """Where a number stands among all."""
    if number.size is None:
        return (-1 if number.negative else 1, 0)
    return (0, number.value)


def _compared(order: str, logic: str, more: str, kind: str, element: str, pair: bool) -> Iterator[Family]:
    def answers(a: int, b: int, c: int = 0) -> tuple[list[int], list[int]]:
        found: list[int] = []
        opposite: list[int] = []
        for x, y in each(kind, a, b):
            numbers = [decode(one, element) for one in (x, y)]
            if more:
                numbers = [flushed(one, element) for one in numbers]
            one = int(holds(order, *numbers))
            found.append(combined(one, c, logic))
            opposite.append(combined(1 - one, c, logic))
        return found, opposite

    kinds = (kind, kind, "pred") if logic else (kind, kind)
    name = f"{order}{logic}{more}"

    def predicates(a: int, b: int, c: int = 0) -> tuple[int, ...]:
        found, opposite = answers(a, b, c)
        return (found[1], found[0]) if pair else (found[0], opposite[0])

    def written(type: str) -> Oracle:
        """What `set` writes as a type: both halves where the operands have two."""
        def oracle(a: int, b: int, c: int = 0) -> int:
            found = answers(a, b, c)[0]
            if pair:
                one = _TRUE.get(type, _TRUE["u16"]) & 0xFFFF
                return found[0] * one << 16 | found[1] * one
            return found[0] * _TRUE[type]

        return oracle

    half = element in ("f16", "bf16")
    if half and not pair:
        def one(a: int, b: int, c: int = 0) -> int:
            return predicates(a, b, c)[0]

        yield Family(f"setp.{name}.{kind}", kinds, (1,), one)
    else:
        yield Family(f"setp.{name}.{kind}", kinds, (1, 1), predicates)
    if pair:
        yield Family(f"set.{name}.u32.{kind}", kinds, (32,), written("u16"))
        yield Family(f"set.{name}.{kind}.{kind}", kinds, (32,), written(element))
        return
    whole = ("u16" if len(order) % 2 else "s32") if half else "u32"
    for target in (whole, element if half else "f32", *(() if half else ("f16",))):
        yield Family(f"set.{name}.{target}.{kind}", kinds, (width(target),), written(target))


def combined(one: int, c: int, logic: str) -> int:
    match logic:
        case ".and":
            return one & c
        case ".or":
            return one | c
        case ".xor":
            return one ^ c
        case _:
            return one


_Two = Callable[[int, int, int], tuple[int, int]]
_TRUE = {"s32": -1, "u32": -1, "u16": -1, "f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}
"""What `set` writes where the comparison holds."""


def _integers(order: str, kind: str) -> Iterator[Family]:
    bits = width(kind)
    plain = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}.get(order, order)

    def answer(a: int, b: int) -> int:
        if kind[0] == "s":
            a, b = ((one ^ 1 << bits - 1) - (1 << bits - 1) for one in (a, b))
        return int((a > b) - (a < b) in _SIGNS[plain])

    for logic in ("", (".and", ".or", ".xor")[len(order + kind) % 3]):
        kinds = (kind, kind, "pred") if logic else (kind, kind)

        def predicates(a: int, b: int, c: int = 0, logic: str = logic) -> tuple[int, int]:
            one = answer(a, b)
            return combined(one, c, logic), combined(1 - one, c, logic)

        yield Family(f"setp.{order}{logic}.{kind}", kinds, (1, 1), predicates)
        target = ("s32", "f32", "f16", "bf16")[(len(logic) + bits // 16 + len(order + kind)) % 4]

        def written(a: int, b: int, c: int = 0, target: str = target, of: _Two = predicates) -> int:
            return _TRUE[target] * of(a, b, c)[0]

        yield Family(f"set.{order}{logic}.{target}.{kind}", kinds, (width(target),), written)
