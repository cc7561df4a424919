"""Families of spellings, each with what its results are, and operands at the edges of their types."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from tests.oracle.exact.floats import FORMATS

Found = int | tuple[int, ...] | None
Oracle = (
    Callable[[int], Found] | Callable[[int, int], Found] | Callable[[int, int, int], Found]
    | Callable[[int, int, int, int], Found]
)
"""From operands as bits to results as bits; None where the manual leaves the answer open."""


T = TypeVar("T")


def unary(oracle: Callable[[int], T]) -> Callable[[int], T]:
    """Tells the type checker what the parameter of a lambda is."""
    return oracle


def binary(oracle: Callable[[int, int], T]) -> Callable[[int, int], T]:
    return oracle


def ternary(oracle: Callable[[int, int, int], T]) -> Callable[[int, int, int], T]:
    return oracle


def quaternary(oracle: Callable[[int, int, int, int], T]) -> Callable[[int, int, int, int], T]:
    return oracle


class Family(NamedTuple):
    """One spelling. `kinds` are those of its operands: a format, `u32`, `s16x2`, `pred`, or a choice of
    numbers; `results` the widths of its results in bits.
    """

    spelling: str
    kinds: tuple[str | Sequence[int], ...]
    results: tuple[int, ...]
    oracle: Oracle


def operand(kind: str | Sequence[int], chosen: random.Random) -> int:
    """An operand at an edge of its kind, see `Family`, or from a choice."""
    if not isinstance(kind, str):
        return chosen.choice(kind)
    element, _, count = kind.partition("x")
    found = 0
    for _ in range(int(count or 1)):
        found = found << width(element) | _element(element, chosen)
    return found


def width(kind: str) -> int:
    """The bits of one element: formats of 6 bits lie in bytes, `.tf32` in 32 bits."""
    if kind == "pred":
        return 1
    if kind in FORMATS:
        return {19: 32, 6: 8}.get(FORMATS[kind].width, FORMATS[kind].width)
    return int(kind.lstrip("usb"))


def _element(kind: str, chosen: random.Random) -> int:
    bits = width(kind)
    if kind == "pred":
        return chosen.getrandbits(1)
    if kind not in FORMATS:
        top = 1 << bits - 1
        edges = [0, 1, 2, top - 1, top, top + 1, 2 * top - 1, chosen.getrandbits(bits)]
        return chosen.choice([*edges, chosen.getrandbits(bits) >> chosen.randrange(bits)]) & 2 * top - 1
    form = FORMATS[kind]
    raw = form.width - form.signed
    one = form.bias << form.mantissa
    normal = 1 << form.mantissa
    near = one + chosen.randrange(-3 * normal, 3 * normal) if bits > 8 else chosen.getrandbits(raw)
    edges = [
        0, 1, normal - 1, normal, form.largest, one, one + 1, one - 1, one + normal // 2, near, near, near,
        near, chosen.getrandbits(raw),
    ]
    if form.specials == "ieee":
        edges.append(form.largest + 1)
    if form.specials != "none" and chosen.randrange(3) == 0:
        edges += [form.nan & (1 << raw) - 1] * 2
    sign = chosen.getrandbits(1) << form.width - 1 if form.signed else 0
    return (sign | chosen.choice(edges) & (1 << raw) - 1) << form.padding


def each(kind: str, *operands: int) -> Iterator[tuple[int, ...]]:
    """The elements of packed operands, the uppermost first."""
    element, _, count = kind.partition("x")
    bits = width(element)
    for at in reversed(range(int(count or 1))):
        yield tuple(one >> at * bits & (1 << bits) - 1 for one in operands)


def packed(found: Iterable[int | None], bits: int) -> int | None:
    """Elements side by side; None if one is left open."""
    result = 0
    for one in found:
        if one is None:
            return None
        result = result << bits | one
    return result
