"""Validation of the data of a `.section` beyond the grammar: what ptxas accepts.

A line such as `.b32 1, 2` has whole numbers, or a single address. An address is a name, a name and a number
(`label+4`), or the distance of two labels (`end-begin`). (Probed, docs/ptxas.md section 1.9.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.syntax.literals import constant
from ptx_lsp.syntax.lower_leaves import parts_of
from ptx_lsp.syntax.problem import SyntaxProblem

if TYPE_CHECKING:
    from tree_sitter import Node

BITS: Final = {".b8": 8, ".byte": 8, ".b16": 16, ".b32": 32, ".4byte": 32, ".b64": 64, ".quad": 64}
RESERVED: Final = frozenset({"WARP_SZ", "_", "function_name", "inlined_at"})
"""Words that cannot name a label."""
_WITHIN = "a section"
_BYTE = r"(?:[1-9]?\d|1\d\d|2[0-4]\d|25[0-5])"
_SMALL = r"(?:0|[1-9]\d{0,3})"
_PLAIN = lazy_pattern(rf"\.b8\s+{_BYTE}(?:\s*,\s*{_BYTE})*|\.b(?:16|32|64)\s+{_SMALL}(?:\s*,\s*{_SMALL})*")
"""Matches most lines without using the tree: there may be megabytes of them."""


def data_problems(node: Node, text: str, base: int) -> Iterator[SyntaxProblem]:
    """The problems of one line of data, a `data` node of the tree. Offsets in `text` count from `base`."""
    start, end = node.start_byte, node.end_byte
    if _PLAIN.fullmatch(text, start, end) is not None:
        return
    word, *parts = parts_of(node)
    bits = BITS.get(text[word.start_byte : word.end_byte])
    if bits is None:
        return  # the rule `unknown-directive`
    values = [part for part in parts if part.type != ","]
    for value in values:
        if value.type in _ADDRESSES:
            found = _about_address(value, text, bits)
        else:
            found = _about_number(value, text, bits)
        if found is not None:
            at, expected = found
            last = at.start_byte if at.type == "missing" else at.end_byte
            yield SyntaxProblem(at.start_byte - base, last - base, expected, _WITHIN)
            return
    if len(values) > 1 and any(value.type in _ADDRESSES for value in values):
        comma = next(part for part in parts if part.type == ",")
        first, last = comma.start_byte - base, comma.end_byte - base
        yield SyntaxProblem(first, last, "the next line (an address takes a whole line)", _WITHIN)


_ADDRESSES = frozenset({"identifier", "modifier", "binary_expression"})


def _about_number(value: Node, text: str, bits: int) -> tuple[Node, str] | None:
    """The node that is wrong, and what was expected there."""
    match value.type:
        case "integer":
            number = constant(text[value.start_byte : value.end_byte])
            if number is None:
                return value, "a number of at most 64 bits"
            is_right = bits >= 32 or number % (1 << 32) < 1 << bits  # the lowest 32 bits are what counts
            return None if is_right else (value, _range(bits))
        case "unary_expression":
            digits = list(parts_of(value))[-1]
            if digits.type != "integer":
                return _about_number(digits, text, bits)
            written = text[digits.start_byte : digits.end_byte]
            number = constant(written)
            if written.endswith("U") or number is None or number >= 1 << 63:
                return digits, "a number of at most 63 bits, without `U`, after a sign"
            return None if bits == 64 or number <= 1 << (bits - 1) else (value, _range(bits))
        case "missing":
            return value, "a value"
        case _:
            return value, "a whole number"


def _range(bits: int) -> str:
    return f"a number from {-(1 << bits - 1)} to {(1 << bits) - 1} for `.b{bits}`"


def _about_address(value: Node, text: str, bits: int) -> tuple[Node, str] | None:
    parts = list(parts_of(value)) if value.type == "binary_expression" else [value]
    left = parts[0]
    if left.type not in ("identifier", "modifier"):
        return parts[1], "`,` or the next line"
    for name in (part for part in parts if part.type in ("identifier", "modifier")):
        written = text[name.start_byte : name.end_byte]
        if written in RESERVED or written in BITS or re.match(r"\.\d", written):
            return name, "a label, a section or a number"
    if len(parts) > 1:
        sign, right = text[parts[1].start_byte : parts[1].end_byte], parts[2]
        if sign == "+":
            if right.type != "integer" or constant(text[right.start_byte : right.end_byte]) is None:
                return right, "an unsigned whole number"
        elif left.type == "modifier":
            return parts[1], "`+` (only labels have a distance)"
        elif right.type != "identifier":
            return right, "a label"
    if len(parts) > 3:
        return parts[3], "the next line"
    return None if bits >= 32 else (value, "a number (an address requires `.b32` or `.b64`)")
