"""Makes the lines `# ptxas` of tests/conformance: instructions with constant operands that ptxas computes.

    python -m tests.oracle.instructions.folded_lines     writes tests/conformance/folded_*.txt anew

1. Every spelling of the instruction table that computes scalars is given to ptxas with operands at the edges,
   for each of some targets; `tests.oracle.instructions.machine_code` reads the results.
2. A spelling counts as computed where ptxas computes half of its rows; else it only knows that 0 times
   anything is 0.
3. What the manual leaves open is left out, and so are the functions that it gives bounds for, but for zeros,
   infinities and NaN: ptxas rounds them to nearest, which no GPU does.
4. Where ptxas computes something else than its own machine code would (docs/ptxas.md, "Constants that ptxas
   computes"), lines are left out.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.isa.matching.fit import Candidate
from ptx_lsp.isa.matching.match import arrangements
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.notation import Place
from ptx_lsp.isa.schema.operand import Operand
from ptx_lsp.isa.types import TYPES
from tests.executor.conformance.lines import FOLDER, type_of, types_of
from tests.oracle.exact.family import operand, width
from tests.oracle.exact.floats import FORMATS, add, decode
from tests.oracle.instructions.judge import sections
from tests.oracle.instructions.machine_code import Constant, disassembler, folded
from tests.oracle.instructions.rows import rows

SECTIONS: dict[str, tuple[str, ...]] = {
    "integer": ("integer", "integer_bits", "extended", "logic", "video", "move"),
    "float": ("float", "half", "mixed"),
    "comparison": ("comparison", "half_comparison"),
    "conversion": ("convert", "convert_packed"),
}
"""The sections of the table in each file."""
TARGETS = ("sm_120a", "sm_90a")
_VERSION = "9.4"
_PROBED, _TRIED, _KEPT = 2, 12, 6
"""Rows of operands for each spelling."""
_KEPT_OF_COMPARISONS = 3
_BATCH = 2000
_BOUNDED = (".approx", ".full")
_LEFT_OUT = ("mov", "cvta", "isspacep", "mapa", "getctarank")
"""What only moves, and what makes addresses."""
_COMMAND = "python -m tests.oracle.instructions.folded_lines"


def main() -> int:
    """Writes the files; 2 where there is no ptxas or no nvdisasm."""
    tool, reader = ptxas.find(), disassembler()
    if tool is None or reader is None:
        print("folded_lines: no ptxas or no nvdisasm at hand", file=sys.stderr)
        return 2
    source = f"ptxas {ptxas.version(tool)}"
    for name, parts in SECTIONS.items():
        kept = _KEPT_OF_COMPARISONS if name == "comparison" else _KEPT
        path = FOLDER / f"folded_{name}.txt"
        title = f"# Made by `{_COMMAND}`, which reads machine code by ptxas."
        text = [title, *lines(list(shapes(parts, pairs=name != "comparison")), kept, source, (tool, reader))]
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(text) - 1} lines")
    return 0


# -- spellings ------------------------------------------------------------------------------------


class Shape:
    """A spelling with the types of what it reads and writes."""

    def __init__(
        self, spelling: str, wanted: tuple[Operand, ...], types: tuple[str, ...],
        result_types: tuple[str, ...],
    ) -> None:
        self.spelling = spelling
        self.wanted = wanted
        self.types = types
        self.result_types = result_types

    def constants(self, count: int) -> list[Constant]:
        """The instruction with operands, always the same ones."""
        chosen = random.Random(self.spelling)
        found: dict[tuple[int, ...], None] = {}
        for _ in range(count):
            row = tuple(
                _operand(self.spelling, at, wanted, type, chosen)
                for at, (wanted, type) in enumerate(zip(self.wanted, self.types, strict=True))
            )
            found[row] = None
        return [Constant(self.spelling, self.types, self.result_types, row) for row in found]


def shapes(parts: Iterable[str], *, pairs: bool) -> Iterator[Shape]:
    """Every spelling of sections of the table; with `pairs` all pairs of choices, else each choice once."""
    seen: set[str] = set()
    for entry in (entry for part in parts for entry in sections()[part]):
        if entry.meaning is None or entry.opcode in _LEFT_OUT:
            continue
        for form in entry.forms:
            single, paired = rows(form)
            for row in [*single, *paired] if pairs else single:
                spelling = form.opcode + "".join(row)
                if spelling not in seen and resolve(spelling).ok:
                    seen.add(spelling)
                    yield from _shapes(spelling)


def _shapes(spelling: str) -> Iterator[Shape]:
    found: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
    for candidate in resolve(spelling).candidates:
        for places in arrangements(candidate.form.places):
            shape = _shape(spelling, candidate, places)
            if shape is not None and (shape.types, shape.result_types) not in found:
                found.add((shape.types, shape.result_types))
                yield shape


def _shape(spelling: str, candidate: Candidate, places: Sequence[Place]) -> Shape | None:
    """None for vectors, and for what a line of tests/conformance would take for something else."""
    read: list[Operand] = []
    written: list[str] = []
    for place in places:
        wanted = candidate.operand(place)
        if place.parts or wanted.elements:
            return None
        if wanted.access == "write":
            written += [type_of(wanted), ".pred"] if place.paired else [type_of(wanted)]
        else:
            read.append(wanted)
    types = tuple(map(type_of, read))
    known = all(type == "#" or type in TYPES for type in (*types, *written))
    if not known or not types or not written:
        return None
    if types_of("", spelling, len(types), len(written)) != (types, tuple(written)):
        return None
    return Shape(spelling, tuple(read), types, tuple(written))


def _operand(spelling: str, at: int, wanted: Operand, type: str, chosen: random.Random) -> int:
    opcode = spelling.partition(".")[0]
    if type == "#":
        return chosen.choice(wanted.values or range(wanted.low or 0, 1 + (wanted.high or 255)))
    if (opcode, at) in _RANGES:
        return chosen.choice(_RANGES[opcode, at])
    try:
        return operand(type[1:], chosen)
    except ValueError:  # a format without an oracle
        return chosen.getrandbits(TYPES[type].width)


_FIELD = (0, 1, 7, 8, 16, 31, 32, 33, 63, 64, 65, 200, 255)
_RANGES: dict[tuple[str, int], Sequence[int]] = {
    ("bfe", 1): _FIELD, ("bfe", 2): _FIELD, ("bfi", 2): _FIELD, ("bfi", 3): _FIELD, ("fns", 1): range(32),
    ("fns", 2): (0, 1, 2, 3, 5, 31, 32, 33, *(-at & 0xFFFFFFFF for at in (1, 2, 3, 5, 31, 32, 33))),
}
"""Operands for which the manual says what happens, by opcode and position."""


# -- lines ----------------------------------------------------------------------------------------


def lines(
    every: Sequence[Shape], kept: int, source: str, tools: tuple[Path, str]
) -> Iterator[str]:
    """Up to `kept` lines for each shape that ptxas folds for one of the targets."""
    results: dict[Constant, tuple[tuple[int, ...], str]] = {}
    left = [(shape, shape.constants(_TRIED)) for shape in every]
    for target in TARGETS:
        tried = _fold([one for _, constants in left for one in constants[:_PROBED]], target, tools)
        hopeful = [
            (shape, constants) for shape, constants in left if any(map(tried.get, constants[:_PROBED]))
        ]
        found = _fold([one for _, constants in hopeful for one in constants], target, tools)
        done: set[int] = set()
        for shape, constants in hopeful:
            computed = {one: (values, target) for one in constants if (values := found[one]) is not None}
            if 2 * len(computed) >= len(constants):  # else it is not computed, a product with 0 may be
                results |= computed
                done.add(id(shape))
        left = [(shape, constants) for shape, constants in left if id(shape) not in done]
    for shape in every:
        told = [one for one in shape.constants(_TRIED) if one in results and _is_told(one, results[one][0])]
        told.sort(key=lambda one: results[one][0][0] in one.operands)  # what is no copy tells more
        for one in told[:kept]:
            values, target = results[one]
            read = ", ".join(
                str(value) if type == "#" else hex(value)
                for value, type in zip(one.operands, one.types, strict=True)
            )
            yield f"{one.spelling}  {read} -> {', '.join(map(hex, values))}  # {source} {target}"


def _fold(
    constants: Sequence[Constant], target: str, tools: tuple[Path, str]
) -> dict[Constant, tuple[int, ...] | None]:
    header = f".version {_VERSION}\n.target {target}\n.address_size 64\n"
    found: dict[Constant, tuple[int, ...] | None] = {}
    for start in range(0, len(constants), _BATCH):
        batch = constants[start : start + _BATCH]
        found |= dict(zip(batch, folded(batch, header, tools), strict=True))
    return found


def _is_told(one: Constant, results: tuple[int, ...]) -> bool:
    """Whether the manual tells the result, and ptxas is known to compute it as machine code does."""
    opcode, *modifiers = one.spelling.split(".")
    type = one.result_types[0]
    name, _, count = type[1:].partition("x")
    if name not in FORMATS:
        return opcode not in ("div", "rem") or one.operands[1] != 0
    if name == "f32" and opcode in ("add", "sub") and any(
        _is_a_tie(opcode, at, one.operands, results[0]) for at in range(int(count or 1))
    ):
        return False
    value = decode(results[0] & (1 << width(name)) - 1, name)
    if value is None:
        return _tells_nan(opcode, one)
    return f".{modifiers[0]}" not in _BOUNDED or value.size is None or value.size == 0


def _tells_nan(opcode: str, one: Constant) -> bool:
    """Whether a NaN is the one that the manual has: where ptxas does not hand on the bits of an operand."""
    if opcode in ("neg", "abs") or one.result_types[0] in (".f64", ".tf32") or ".f64" in one.types:
        return False
    return opcode not in ("min", "max") or len(set(one.operands)) > 1


def _is_a_tie(opcode: str, at: int, operands: tuple[int, ...], result: int) -> bool:
    """Whether the exact sum of the elements `at` lies in the middle between the one found and another."""
    found = result >> 32 * at & 0xFFFFFFFF
    a, b = (decode(bits >> 32 * at & 0xFFFFFFFF, "f32") for bits in operands)
    exact = add(a, b and b.flipped() if opcode == "sub" else b, "rn")
    if exact is None or exact.size is None or not 0 < found & 0x7FFFFFFF < FORMATS["f32"].largest:
        return False
    below, here, above = (decode(bits, "f32") for bits in (found - 1, found, found + 1))
    assert below is not None and here is not None and above is not None
    distance = abs(exact.value - here.value)
    return distance > 0 and distance in (abs(exact.value - below.value), abs(exact.value - above.value))


if __name__ == "__main__":
    sys.exit(main())
