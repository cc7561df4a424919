"""The values of integer literals."""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

WORD: Final = 2**64
"""Integers have 64 bits (PTX ISA, "Integer Constants")."""


@lru_cache(maxsize=4096)
def integer(text: str) -> int | None:
    """The value of an integer literal in PTX syntax; None if it is invalid."""
    digits = text.removesuffix("U")
    try:
        if digits[:2] in ("0x", "0X", "0b", "0B"):
            return int(digits, 0)
        return int(digits, 8 if digits.startswith("0") and len(digits) > 1 else 10)
    except ValueError:
        return None


def constant(text: str) -> int | None:
    """The value that ptxas 13.5 gives an integer literal: its lowest 64 bits. None if the text is not an
    integer, or if ptxas reports "Constant overflow". It does so for a digit after digits whose lowest 64 bits
    have the top bit set. So `0x10000000000000000` is 0, and `0x80000000000000000` overflows.
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
    """Whether ptxas reports "Constant overflow" for an integer in a directive that takes 32 or 64 bits. It
    uses 64 signed bits: `.loc 18446744073709551615 1 1` is -1, and valid.
    """
    value = constant(text)
    return value is None or (bits == 32 and 1 << 32 <= value < WORD // 2)
