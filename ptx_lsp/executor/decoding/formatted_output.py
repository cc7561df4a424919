"""The text of `printf`, as in C (ISO/IEC 9899, "The fprintf function"), and as of glibc where that is open.

CUDA adds (CUDA C++ Programming Guide, "Formatted Output"): the result is the number of arguments taken, at
most 32; after those, conversions are printed as they are written.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<kind>[diouxXcsfFeEgGaAp%])"
)
_LONG = ("l", "ll", "j", "z", "t", "q")
_MOST_ARGUMENTS = 32
_MANTISSA = 52
_BIAS = 1023
_NULL = "(null)"


class Arguments:
    """The values for a format: one after the other, each aligned to its size."""

    def __init__(self, address: int, read: Callable[[int, int], bytes]) -> None:
        """`read` gives so many bytes at an address."""
        self._address = address
        self._read = read
        self.count = 0

    def take(self, size: int) -> bytes:
        start = -(-self._address // size) * size
        self._address = start + size
        self.count += 1
        return self._read(start, size)

    def integer(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little", signed=True)


def formatted(form: str, arguments: Arguments, text_at: Callable[[int], str]) -> str:
    """The text that a format gives; `text_at` reads a string at an address."""

    def replaced(found: re.Match[str]) -> str:
        if found["kind"] == "%":
            return "%"
        needed = 1 + (found["width"] == "*") + (found["precision"] == "*")
        if arguments.count + needed > _MOST_ARGUMENTS:
            return found[0]
        return _Conversion.of(found, arguments).text(arguments, text_at)

    return _CONVERSION.sub(replaced, form)


@dataclass(frozen=True)
class _Conversion:
    flags: str
    width: int
    precision: int | None
    length: str
    kind: str

    @classmethod
    def of(cls, found: re.Match[str], arguments: Arguments) -> _Conversion:
        """A conversion whose width and precision may be arguments. A negative width stands for the flag `-`,
        a negative precision for none.
        """
        flags, width = found["flags"], found["width"] or "0"
        at_least = arguments.integer(4) if width == "*" else int(width)
        if at_least < 0:
            flags, at_least = flags + "-", -at_least
        precision: int | None = None
        if found["precision"] is not None:
            given = found["precision"]
            precision = arguments.integer(4) if given == "*" else int(given or "0")
        precision = None if precision is not None and precision < 0 else precision
        return cls(flags, at_least, precision, found["length"] or "", found["kind"])

    def text(self, arguments: Arguments, text_at: Callable[[int], str]) -> str:
        """The next argument as text."""
        match self.kind:
            case "s":
                address = arguments.integer(8) % 2**64
                whole = text_at(address) if address else _NULL
                if not address and self.precision is not None and self.precision < len(_NULL):
                    whole = ""
                return self._padded("", whole[: self.precision], is_number=False)
            case "c":
                return self._padded("", chr(arguments.integer(4) & 0xFF), is_number=False)
            case "p":
                address = arguments.integer(8) % 2**64
                return self._padded("", f"{address:#x}" if address else "(nil)", is_number=False)
            case "f" | "F" | "e" | "E" | "g" | "G" | "a" | "A":
                return self._float(arguments.take(8))
            case _:
                return self._integer(arguments.integer(8 if self.length in _LONG else 4))

    def _integer(self, value: int) -> str:
        bits = {"hh": 8, "h": 16}.get(self.length, 64 if self.length in _LONG else 32)
        value %= 1 << bits
        if self.kind in "di":
            value -= value >> bits - 1 << bits
        letter = {"o": "o", "x": "x", "X": "X"}.get(self.kind, "d")
        digits = "" if self.precision == 0 and not value else format(abs(value), letter)
        digits = digits.rjust(self.precision or 0, "0")
        prefix = self._sign(value < 0) if self.kind in "di" else ""
        if "#" in self.flags and self.kind == "o" and not digits.startswith("0"):
            digits = "0" + digits
        if "#" in self.flags and self.kind in "xX" and value:
            prefix = "0" + self.kind
        return self._padded(prefix, digits, is_number=self.precision is None)

    def _float(self, data: bytes) -> str:
        (value,) = struct.unpack("<d", data)
        prefix, value = self._sign(bool(data[-1] >> 7)), abs(value)
        if not math.isfinite(value):
            name = "nan" if math.isnan(value) else "inf"
            return self._padded(prefix, name.upper() if self.kind.isupper() else name, is_number=False)
        if self.kind in "aA":
            text = "0x", self._hexadecimal(value)
            mark, digits = (one.upper() for one in text) if self.kind == "A" else text
            return self._padded(prefix + mark, digits, is_number=True)
        precision = 6 if self.precision is None else self.precision
        alternate = "#" if "#" in self.flags else ""
        return self._padded(prefix, f"%{alternate}.{precision}{self.kind}" % value, is_number=True)

    def _hexadecimal(self, value: float) -> str:
        bits = int.from_bytes(struct.pack("<d", value), "little")
        exponent, mantissa = bits >> _MANTISSA, bits % (1 << _MANTISSA)
        whole = mantissa + (bool(exponent) << _MANTISSA)
        power = (exponent or 1) - _BIAS if whole else 0
        count = _MANTISSA // 4 if self.precision is None else self.precision
        dropped = _MANTISSA - 4 * count
        if dropped > 0:  # to nearest, ties to even
            half, rest = 1 << dropped - 1, whole % (1 << dropped)
            whole >>= dropped
            whole += rest > half or (rest == half and whole & 1)
        else:
            whole <<= -dropped
        digits = f"{whole % (1 << 4 * count):0{count}x}" if count else ""
        if self.precision is None:
            digits = digits.rstrip("0")
        point = "." if digits or "#" in self.flags else ""
        return f"{whole >> 4 * count}{point}{digits}p{power:+d}"

    def _sign(self, is_negative: bool) -> str:
        if is_negative:
            return "-"
        return "+" if "+" in self.flags else " " if " " in self.flags else ""

    def _padded(self, prefix: str, digits: str, *, is_number: bool) -> str:
        """At least as wide as demanded; the flag `0` puts zeros after the prefix of a number."""
        missing = self.width - len(prefix) - len(digits)
        if "-" in self.flags:
            return prefix + digits + " " * missing
        if "0" in self.flags and is_number:
            return prefix + "0" * missing + digits
        return " " * missing + prefix + digits
