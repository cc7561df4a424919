"""Where ptxas takes a register of 32 bits for an address, with `.address_size 64`, and where it does not.

    python -m tests.oracle.instructions.pointer_width [--update]

Every instruction of the table that has an address: each state space, with registers of 16, 32 and 64 bits;
and `mov` and `cvta` of every kind of variable. ptxas says it only where it makes code: a warning that names
the line, and then a fatal error for the whole file. One file judges all lines of a version and target.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ptx_lsp import ptxas
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.operand import SPACES, Argument
from ptx_lsp.isa.target import Target, Version
from tests.oracle.instructions.cases import Case, Point, newest_point, plain_lines
from tests.oracle.instructions.judge import VERDICTS, Verdict, architecture, judge, prelude, record
from tests.oracle.instructions.operands import written

NAME: Final = "pointer_width"
_BASES: Final = (".b16", ".b32", ".u32", ".s32", ".u64")
_VARIABLES: Final = ("global0", "const0", "shared0", "local0", "param1", "f0")
_SHAPES: Final = (
    "[%u32_1+4]", "[%s32_1+-4]", "[%u64_1+4]", "[global0]", "[global0+4]", "[%clock]", "global0[1]",
)
_NAMED: Final = re.compile(r"Program uses 32-bit address on line '(\d+)'")
_POINTS: Final = ((Version(9, 5), Target(121, "a")), (Version(8, 0), Target(80)), (Version(2, 3), Target(20)))
_MOST_ALIKE: Final = 2
"""Of lines that differ in other things than the space and the register, so many are asked."""


def asked() -> Iterator[Case]:
    """The lines to judge."""
    alike: Counter[tuple[str, ...]] = Counter()
    for entry in table.all_entries():
        for form, row, spelling, plain in plain_lines(entry):
            spaces = [word for word in row if word.partition("::")[0] in SPACES]
            for index, register, arguments in _with_addresses(spelling, plain):
                key = (entry.name, entry.section, form.text, str(index), register, *spaces)
                alike[key] += 1
                if alike[key] <= _MOST_ALIKE:
                    operands = ", ".join(map(written, arguments))
                    yield Case(spelling, operands, *newest_point(spelling, arguments), True)
    for point in _POINTS:
        for spelling, operands in _named():
            yield Case(spelling, operands, *point, True)


def _with_addresses(
    spelling: str, arguments: tuple[Argument, ...]
) -> Iterator[tuple[int, str, tuple[Argument, ...]]]:
    """The operands with other registers in each address, where the table has nothing against them."""
    for index, argument in enumerate(arguments):
        if argument.kind != "address":
            continue
        for type in _BASES:
            base = Argument("register", type)
            changed = argument._replace(parts=(base, *argument.parts[1:]))
            result = (*arguments[:index], changed, *arguments[index + 1 :])
            match = resolve(spelling).match(result)
            if match is not None and not match.problems:
                yield index, type, result


def _named() -> Iterator[tuple[str, str]]:
    """Addresses that instructions make or take as they are, and the shapes of an address."""
    for name in _VARIABLES:
        yield "mov.u32", f"%u32_1, {name}"
        if name != "f0":  # ptxas rejects offsets of functions
            yield "mov.b32", f"%b32_1, {name}+4"
        yield "mov.b32", f"{{%b16_1, %b16_2}}, {name}"
        yield "mov.u64", f"%u64_1, {name}"
    for name in _VARIABLES[:4]:
        space = name.rstrip("0")
        for width in (32, 64):
            yield f"cvta.{space}.u{width}", f"%u{width}_1, {name}"
            yield f"cvta.{space}.u{width}", f"%u{width}_1, %u{width}_2"
            yield f"cvta.to.{space}.u{width}", f"%u{width}_1, %u{width}_2"
            yield f"isspacep.{space}", f"%pred_1, %u{width}_1"
    for address in _SHAPES:
        yield "ld.global.u32", f"%u32_1, {address}"
    yield "ld.local.u32", "%u32_1, [16]"


def compare() -> list[tuple[Case, Verdict]]:
    """Every line that ptxas parses, with what it says of it when it makes code."""
    points: dict[Point, dict[Case, None]] = defaultdict(dict)
    for case in asked():
        points[case.version, case.target][case] = None
    return [pair for point, group in points.items() for pair in _judged(list(group), point)]


def _judged(group: list[Case], point: Point) -> list[tuple[Case, Verdict]]:
    parsed = judge([case.line for case in group], point)
    cases = [case for case, verdict in zip(group, parsed, strict=True) if verdict.accepted]
    narrow = narrow_lines([case.line for case in cases], point)
    return [(case, Verdict(number not in narrow, "")) for number, case in enumerate(cases)]


def narrow_lines(lines: list[str], point: Point, tool: Path | None = None) -> set[int]:
    """The numbers of the lines in which ptxas sees an address of 32 bits.

    Where it ends for another reason, it may not have come to say so: halves are tried.
    """
    program = tool or ptxas.find()
    assert program is not None, "no ptxas at hand"
    head = prelude(*point)
    source = "\n".join([head.rstrip("\n"), *lines, "L1:", "ret;", "}", ""])
    arch = architecture(point[1], 75).replace("compute", "sm")
    command = [str(program), "-arch", arch, "-o", "/dev/null", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    if done.returncode and "32-Bit" not in done.stderr and len(lines) > 1:
        half = len(lines) // 2
        behind = narrow_lines(lines[half:], point, program)
        return narrow_lines(lines[:half], point, program) | {half + number for number in behind}
    return {int(number) - head.count("\n") - 1 for number in _NAMED.findall(done.stderr)}


if __name__ == "__main__":
    judged = compare()
    print(f"{len(judged)} lines, {sum(not verdict.accepted for _, verdict in judged)} refused")
    if "--update" in sys.argv:
        (VERDICTS / f"{NAME}.txt").write_text(record(judged))
