"""The lines of tests/conformance: an instruction, its operands, its results, and how they are known.

    add.sat.s32  0x7fffffff, 1 -> 0x7fffffff  # manual

Operands and results are integers, or floats such as `1.5`, `-inf`, `nan` where the type is a float;
hexadecimal numbers are bits. `nan` as a result is the canonical one. The condition code can be the last
operand of what reads it, and the last result of what writes it. The word behind `#` tells the source:
`manual` (its text, by hand), `exact` (whole numbers and fractions, tests/oracle/exact/lines.py), `ptxas`
(constant folding seen in machine code), `gpu` (with the device).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ptx_lsp.executor.launching.instruction_harness import CARRY
from ptx_lsp.isa.instructions.extended import READ_CARRY
from ptx_lsp.isa.matching.match import arrangements
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.isa.types import TYPES

FOLDER = Path(__file__).parents[2] / "conformance"
SOURCES = ("manual", "exact", "ptxas", "gpu")
_FLOATS = {".f16": ("<e", "<H", 0x7FFF), ".f32": ("<f", "<I", 0x7FFFFFFF), ".f64": ("<d", "<Q", -1 << 51)}


class Line(NamedTuple):
    """One expectation. `types` are those of the operands, or "#" for a constant."""

    place: str
    spelling: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    types: tuple[str, ...]
    result_types: tuple[str, ...]

    def raw(self, results: Sequence[int]) -> tuple[int, ...]:
        """Results of it as bits."""
        return tuple(int(one) & mask(type) for one, type in zip(results, self.result_types, strict=True))


def mask(type: str) -> int:
    """All bits of a type of an operand or a result."""
    return 1 if type == CARRY else (1 << max(TYPES[type].width, 1)) - 1


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file; ValueError for one that is not understood."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        body, _, source = text.partition("#")
        if not body.strip():
            continue
        place = f"{path.name}:{number}"
        if source.split()[:1] not in [[name] for name in SOURCES]:
            raise ValueError(f"{place}: no source")
        left, _, right = body.partition("->")
        spelling, _, operands = left.strip().partition(" ")
        given = [one.strip() for one in operands.split(",")]
        wanted = [one.strip() for one in right.split(",")]
        types, result_types = types_of(place, spelling, len(given), len(wanted))
        yield Line(
            place, spelling,
            tuple(_bits(one, type) for one, type in zip(given, types, strict=True)),
            tuple(_bits(one, type) for one, type in zip(wanted, result_types, strict=True)),
            types, result_types,
        )


def types_of(
    place: str, spelling: str, operands: int, results: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the instruction table says of an instruction with so many operands and results."""
    for candidate in resolve(spelling).candidates:
        for places in arrangements(candidate.form.places):
            written: list[str] = []
            read: list[str] = []
            for one in places:
                wanted = candidate.operand(one)
                into = written if wanted.access == "write" else read
                into.append(type_of(wanted))
                if one.paired:
                    written.append(".pred")
            if len(read) + 1 == operands and candidate.form.opcode in READ_CARRY:
                read.append(CARRY)
            if len(written) + 1 == results and ".cc" in candidate.choices.modifiers:
                written.append(CARRY)
            if len(read) == operands and results in (len(written), 1):
                return tuple(read), tuple(written[:results])
    raise ValueError(f"{place}: `{spelling}` does not take {operands} operands")


def type_of(wanted: Operand) -> str:
    """The type of an operand; "#" for a constant."""
    if "register" not in wanted.kinds:
        return "#"
    return str(wanted.type).partition("|")[0]


def _bits(text: str, type: str) -> int:
    if type in _FLOATS and not text.startswith("0x"):
        code, raw, nan = _FLOATS[type]
        value = float(text)
        return nan if math.isnan(value) else int(struct.unpack(raw, struct.pack(code, value))[0])
    return int(text, 0)
