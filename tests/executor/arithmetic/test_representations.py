"""The result of an instruction does not depend on the representation of its operands; see `representations`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from ptx_lsp.isa.types import TYPES
from tests.executor.arithmetic.representations import Results, by_constant, by_shape
from tests.executor.conformance.lines import FOLDER, Line, lines
from tests.strength import number

FILES = sorted(FOLDER.glob("*.txt"))
_ROWS = number(2, 6)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_in_every_shape(path: Path) -> None:
    assert _wrong(by_shape(_groups(lines(path)))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_with_constants(path: Path) -> None:
    assert _wrong(by_constant(list(lines(path)))) == []


def test_special_values() -> None:
    """NaNs with payloads, signalling ones, signed zeros, subnormals: in every shape and as constants."""
    every = (line for path in FILES for line in lines(path))
    groups = [_special(group[0]) for group in _groups(every) if _reads_floats(group[0])]
    first: dict[Line, set[Results]] = {}
    wrong: list[str] = []
    for found in (by_shape(groups), by_constant([group[0] for group in groups])):
        for line, how, results in found:
            expected = first.setdefault(line, results)
            if results != expected or len(results) > 1:
                wrong.append(f"{_told(line)} {how}: {_hex(results)}, else {_hex(expected)}")
    assert wrong == []


def _groups(every: Iterable[Line]) -> list[list[Line]]:
    """Lines of one spelling and types with the same constants."""
    groups: defaultdict[tuple[object, ...], list[Line]] = defaultdict(list)
    for line in every:
        constants = tuple(
            value for value, type in zip(line.operands, line.types, strict=True) if type == "#"
        )
        groups[line.spelling, line.types, line.result_types, constants].append(line)
    return list(groups.values())


def _wrong(found: Iterable[tuple[Line, str, set[Results]]]) -> list[str]:
    return [
        f"{line.place}: {_told(line)} {how}: {_hex(results)}, not {_hex({line.raw(line.results)})}"
        for line, how, results in found if results != {line.raw(line.results)}
    ]


def _told(line: Line) -> str:
    return f"{line.spelling} {', '.join(map(hex, line.operands))}"


def _hex(results: set[Results]) -> list[list[str]]:
    return [list(map(hex, row)) for row in sorted(results)]


def _reads_floats(line: Line) -> bool:
    return any(type in TYPES and not TYPES[type].is_integer for type in line.types)


def _special(line: Line) -> list[Line]:
    """The instruction of a line with operands from the ends of the formats, always the same ones."""
    chosen = random.Random(line.spelling)
    rows = [
        tuple(
            value if type == "#" else _pattern(TYPES[type].width, chosen)
            for value, type in zip(line.operands, line.types, strict=True)
        )
        for _ in range(_ROWS)
    ]
    return [line._replace(operands=row) for row in dict.fromkeys(rows)]


def _pattern(width: int, chosen: random.Random) -> int:
    """Bits of all elements that such a register may have, at the ends of one of their formats."""
    if width < 16:
        return chosen.getrandbits(max(width, 1))
    size = chosen.choice([one for one in _MANTISSAS if one <= width])
    bits = 0
    for at in range(0, width, size):
        mantissa = chosen.choice(_MANTISSAS[size])
        exponent = chosen.choice([0, 0, 1, 1 << size - mantissa - 3, -1, -1]) << mantissa
        fraction = chosen.choice([0, 1, 1 << mantissa - 1, (1 << mantissa) - 1, (1 << mantissa - 1) - 1])
        sign = chosen.getrandbits(1) << size - 1
        bits |= (sign | exponent & (1 << size - 1) - 1 | fraction) << at
    return bits


_MANTISSAS: dict[int, Sequence[int]] = {16: (10, 7), 32: (23,), 64: (52,)}
"""By the width of a format the bits behind its point."""
