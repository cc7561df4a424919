"""The values of integer literals."""

from __future__ import annotations

from typing import Final

WORD: Final = 2**64
"""Integers are of 64 bits (PTX ISA, "Integer Constants")."""


def integer(text: str) -> int | None:
    """The value of an integer literal as PTX writes it; None where it is none."""
    digits = text.removesuffix("U")
    try:
        if digits[:2] in ("0x", "0X", "0b", "0B"):
            return int(digits, 0)
        return int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
    except ValueError:
        return None


def constant(text: str) -> int | None:
    """What ptxas 13.5 takes an integer literal for: the lowest 64 bits of its value. None where the text is
    no integer, and where it says "Constant overflow": where a digit comes behind others whose lowest 64 bits
    have the top one set. So `0x10000000000000000` is 0, and `0x80000000000000000` overflows.
    """
    value = integer(text)
    if value is None or value < WORD:
        return value
    digits = text.removesuffix("U")
    base = {"x": 16, "b": 2}.get(digits[1].lower(), 8 if digits[0] == "0" else 10)
    shorter = value // base
    while shorter:
        if shorter % WORD >= WORD // 2:
            return None
        shorter //= base
    return value % WORD


def overflows(text: str, bits: int) -> bool:
    """Whether ptxas says "Constant overflow" of an integer where a directive takes one of 32 or 64 bits. It
    looks at 64 bits with a sign: `.loc 18446744073709551615 1 1` is -1, and passes.
    """
    value = constant(text)
    return value is None or (bits == 32 and 1 << 32 <= value < WORD // 2)
