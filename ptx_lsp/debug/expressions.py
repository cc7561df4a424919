"""Expressions of conditions, watches and log messages, such as `%r5 + 1 == 3`.

- `%r5`, `counter`, `%tid.x`: the register of each lane; `%r5@3`: that of lane 3 of the warp, for all lanes
- `[%rd1]:f32`, `[buffer+4]:u8`, `[%rd1]:f32x4`: memory at a generic address; without a type `u32`
- `shared[%r1]:f32`, `local[16]:u64`: memory at an address of a state space
- numbers in decimal and hexadecimal, `0f3F800000` as in PTX, `1.5`, `0x1.8p-3` as in C, `inf`, `nan`
- `+ - * / % << >> & | ^ ~ ! && || == != < <= > >=` and parentheses, as in C
- `any(e)`, `all(e)`: whether it is true for some lane, or for each
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[np.generic]
"""A value for each lane."""


class ExpressionError(ValueError):
    """An invalid expression, or one that has no value here."""


class Lookup(Protocol):
    """Where values come from: each result has an element per lane."""

    def name(self, name: str, lane: int | None) -> Column: ...
    def memory(self, space: str, addresses: Column, type: str, count: int) -> Column: ...


Node: TypeAlias = Callable[[Lookup], Column]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?\d+|0[xX][0-9a-fA-F]+"
    r"|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)"
    r"|(?P<name>[%$A-Za-z_][\w$]*(?:\.[xyzw]\b)?)|(?P<sign><<|>>|&&|\|\||[=!<>]=|[-+*/%&|^~!<>()@\[\]:]))"
)
_TYPE = re.compile(r"([usb]8|[usbf](?:16|32|64))(?:x(\d{1,9}))?$")
_LANE = re.compile(r"\d{1,9}$")
CONSTANTS = {"inf": np.inf, "nan": np.nan}
"""Names of numbers, where nothing else has them."""
_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)


def _divided(one: Column, other: Column) -> Column:
    if np.issubdtype(one.dtype, np.floating) or np.issubdtype(other.dtype, np.floating):
        return np.divide(one, other)
    whole = np.subtract(one, _rest(one, other))
    return np.where(other == 0, 0, np.floor_divide(whole, np.where(other == 0, 1, other)))


def _rest(one: Column, other: Column) -> Column:
    return np.where(other == 0, one, np.fmod(one, np.where(other == 0, 1, other)))


_BINARY: dict[str, Callable[..., Column]] = {
    "||": np.logical_or, "&&": np.logical_and, "|": np.bitwise_or, "^": np.bitwise_xor, "&": np.bitwise_and,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater,
    ">=": np.greater_equal, "<<": np.left_shift, ">>": np.right_shift, "+": np.add, "-": np.subtract,
    "*": np.multiply, "/": _divided, "%": _rest,
}
_UNARY: dict[str, Callable[..., Column]] = {
    "-": np.negative, "~": np.bitwise_not, "!": np.logical_not,
}


def evaluated(text: str, lookup: Lookup) -> Column:
    """The value of an expression. Raises ExpressionError if it is none, or has none."""
    return valued(parse(text), lookup)


def valued(node: Node, lookup: Lookup) -> Column:
    """The value of an expression that was parsed. Raises ExpressionError if it has none."""
    try:
        return node(lookup)
    except RecursionError:
        raise ExpressionError("the expression is too long") from None


def parse(text: str) -> Node:
    """The expression that a text is. Raises ExpressionError if it is none."""
    parser = _Parser(text)
    try:
        found = parser.binary(0)
    except RecursionError:
        raise ExpressionError("the expression is too long") from None
    if parser.next is not None:
        raise ExpressionError(f"unexpected `{parser.next}` in `{text.strip()}`")
    return found


@dataclass(frozen=True)
class Target:
    """A place for a value: the register `name`, in one lane of the warp or in that of the group; or memory of
    a state space, with generic addresses if that is empty.
    """

    name: str = ""
    lane: int | None = None
    space: str = ""
    address: Node | None = None
    """None for a register."""
    type: str = ""
    count: int = 1


def target(text: str) -> Target:
    """The place that an expression such as `%r5@3` or `[%rd1]:f32` names. Raises ExpressionError for others.
    """
    parser = _Parser(text)
    try:
        found = parser.target()
    except RecursionError:
        raise ExpressionError("the expression is too long") from None
    if parser.next is not None:
        raise ExpressionError(f"`{text.strip()}` is neither a register nor memory")
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._text = text.strip()
        self._at = 0

    @property
    def next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def take(self, wanted: str | None = None) -> str:
        found = self.next
        if found is None or (wanted is not None and found != wanted):
            what = f"`{wanted}`" if wanted else "an operand"
            where = f"before `{found}`" if found else "at the end"
            raise ExpressionError(f"expected {what} {where} in `{self._text}`")
        self._at += 1
        return found

    def _after(self, noise: str) -> str:
        """The next token, or the one after a word that may be left out."""
        found = self.take()
        return self.take() if found == noise else found

    def binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.next in _LEVELS[level]:
            left = _applied(_BINARY[self.take()], left, self.binary(level + 1))
        return left

    def unary(self) -> Node:
        sign = self.next
        if sign in _UNARY:
            self.take()
            apply, inner = _UNARY[sign], self.unary()
            return lambda lookup: _checked(apply, inner(lookup))
        return self.primary()

    def primary(self) -> Node:
        word = self.take()
        if word == "(":
            inner = self.binary(0)
            self.take(")")
            return inner
        if word == "[":
            return _loaded(self.memory(""))
        if word[0].isdigit():
            value = _number(word)
            return lambda lookup: np.array([value])  # beyond 63 bits unsigned
        if word in _BINARY or word in _UNARY or word in ")]@:":
            raise ExpressionError(f"unexpected `{word}` in `{self._text}`")
        if word in ("any", "all") and self.next == "(":
            self.take()
            inner = self.binary(0)
            self.take(")")
            together = np.any if word == "any" else np.all
            return lambda lookup: np.array([bool(together(inner(lookup)))])
        if self.next == "[":
            self.take()
            return _loaded(self.memory(word))
        if self.next == "@":
            self.take()
            lane = self.lane()
            return lambda lookup: lookup.name(word, lane)
        return lambda lookup: lookup.name(word, None)

    def target(self) -> Target:
        word = self.take()
        if word == "[":
            return self.memory("")
        if self.next == "[":
            self.take()
            return self.memory(word)
        if self.next == "@":
            self.take()
            return Target(word, self.lane())
        return Target(word)

    def lane(self) -> int:
        lane = self._after("lane")
        if not _LANE.match(lane):
            raise ExpressionError(f"`{lane}` is not a lane")
        return int(lane)

    def memory(self, space: str) -> Target:
        address = self.binary(0)
        self.take("]")
        type, count = "u32", 1
        if self.next == ":":
            self.take()
            written = self.take()
            found = _TYPE.match(written)
            if found is None:
                raise ExpressionError(f"`{written}` is not a type; expected one like `u32`, `f32` or `f32x4`")
            type, count = found[1], int(found[2] or 1)
        return Target(space=space, address=address, type=type, count=count)


def _loaded(one: Target) -> Node:
    address = one.address
    assert address is not None
    return lambda lookup: lookup.memory(one.space, address(lookup), one.type, one.count)


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ExpressionError(f"unexpected `{text[at:].strip()[:1]}` in `{text.strip()}`")
        found.append(match[match.lastgroup or 0])
        at = match.end()
    if not found:
        raise ExpressionError("the expression is empty")
    return found


def _number(word: str) -> int | float:
    try:
        if word[:2] in ("0f", "0F"):
            return float(struct.unpack(">f", bytes.fromhex(word[2:]))[0])
        if word[:2] in ("0d", "0D"):
            return float(struct.unpack(">d", bytes.fromhex(word[2:]))[0])
        if word[:2] in ("0x", "0X") and ("p" in word or "P" in word):
            return float.fromhex(word)
        if word[:2] not in ("0x", "0X") and not word.isdigit():
            return float(word)
        found = int(word, 0)
    except (ValueError, OverflowError):
        raise ExpressionError(f"`{word}` is not a number") from None
    if found >> 64:
        raise ExpressionError(f"`{word}` has more than 64 bits")
    return found


def _applied(apply: Callable[[Column, Column], Column], left: Node, right: Node) -> Node:
    return lambda lookup: _checked(apply, left(lookup), right(lookup))


def _checked(apply: Callable[..., Column], *values: Column) -> Column:
    try:
        with np.errstate(all="ignore"):
            return np.asarray(apply(*_converted(apply, values)))
    except TypeError:
        raise ExpressionError("this operation needs whole numbers") from None
    except ValueError:
        raise ExpressionError("this operation needs single values") from None


def _converted(apply: Callable[..., Column], values: tuple[Column, ...]) -> list[Column]:
    """Operands as C converts them: truths to numbers, and all to unsigned where one is so of 64 bits."""
    kinds = {value.dtype.kind for value in values}
    if apply in _OF_TRUTHS or (kinds == {"b"} and apply in _BITWISE) or "f" in kinds:
        return list(values)
    wide = np.uint64 if "u" in kinds else np.int64
    return [value.astype(wide) for value in values]


_OF_TRUTHS = (np.logical_or, np.logical_and, np.logical_not)
_BITWISE = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)


def whole_numbers(column: Column) -> Column:
    """Whole numbers with 64 bits: signed, if none needs more than 63."""
    is_large = column.dtype == np.uint64 and bool(np.any(np.greater(column, np.uint64((1 << 63) - 1))))
    return column if is_large else column.astype(np.int64)
