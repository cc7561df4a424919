"""Judges the instruction table by ptxas, and records its verdicts.

    python -m tests.oracle.instructions.judge integer         judge one section, print disagreements
    python -m tests.oracle.instructions.judge integer --update  the same, and record the verdicts
    python -m tests.oracle.instructions.judge --old [--update]  a line of each form at targets below sm_75, by
                                                    ptxas 12.9 ($PTXAS_12_9, or of the package)
    python -m tests.oracle.instructions.judge --line 'add.s32 %s32_1, %s32_1, 1;' [--at 8.0 sm_90]
    python -m tests.oracle.instructions.judge --prelude       what a line may name

Thousands of lines go through one ptxas process for each `.version` and `.target`, in its
parse-only mode. A fatal error ends a run: what stood before it is judged anew without it, the
line itself is refused, and the rest goes on in a new run. Where ptxas breaks
down, halves are tried.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.isa.schema import table
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.target import Target, Version, parse_target, parse_version
from tests.oracle.instructions.cases import Case, Point, cases, old_cases

VERDICTS = Path(__file__).parents[1] / "verdicts"
OLD = "ptxas-12.9"
"""The record of the release that was the last to make code for targets below sm_75."""


class Verdict(NamedTuple):
    """What ptxas says of a line: accepted or not, and its first message."""

    accepted: bool
    message: str


def sections() -> dict[str, tuple[Entry, ...]]:
    """The rows by section: the last part of the module's name."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in table.all_entries():
        found[entry.module.rpartition(".")[2]].append(entry)
    return {name: tuple(entries) for name, entries in found.items()}


def old_ptxas() -> Path | None:
    """The ptxas 12.9 that the environment names, or that of the PyPI package; None if there is none."""
    path = os.environ.get("PTXAS_12_9")
    return ptxas.find(Path(path)) if path else ptxas.in_packages(("nvidia-cuda-nvcc-cu12",), "ptxas")


def judge(lines: Sequence[str], point: Point, tool: Path | None = None) -> list[Verdict]:
    """ptxas's verdict on each line, inside one function at this version and target."""
    tool = tool or ptxas.find()
    if tool is None:
        raise FileNotFoundError("no ptxas at hand")
    return _judge(str(tool), list(lines), point) if lines else []


def _judge(tool: str, lines: list[str], point: Point) -> list[Verdict]:
    run = _run(tool, lines, point)
    if run.crashed:
        if len(lines) == 1:
            return [Verdict(False, "ptxas crashes")]
        half = len(lines) // 2
        return _judge(tool, lines[:half], point) + _judge(tool, lines[half:], point)
    if run.fatal is None and run.found:
        return _judge_rest(tool, lines, run.found, point)
    if run.fatal is None:
        return [Verdict(True, "")] * len(lines)
    verdicts: list[Verdict] = []
    if run.fatal:  # messages of a later phase are missing: judge what stood before once more
        verdicts.extend(_judge(tool, lines[: run.fatal], point))
    verdicts.append(Verdict(False, run.found[run.fatal]))
    if run.fatal + 1 < len(lines):
        verdicts.extend(_judge(tool, lines[run.fatal + 1 :], point))
    return verdicts


def _judge_rest(
    tool: str, lines: list[str], found: dict[int, str], point: Point
) -> list[Verdict]:
    """A line with an error hides what a later phase has to say of the others: they go again."""
    rest = [line for number, line in enumerate(lines) if number not in found]
    again = iter(_judge(tool, rest, point) if rest else ())
    return [
        Verdict(False, found[number]) if number in found else next(again)
        for number in range(len(lines))
    ]


class _Run(NamedTuple):
    """The first error of each refused line; which line was fatal; whether ptxas broke down."""

    found: dict[int, str]
    fatal: int | None
    crashed: bool


_BROKEN = ("ptxas <builtin>", "ptxas fatal   : Error reading obfuscated PTX file")
_MESSAGE = re.compile(r"ptxas [^,]*, line (\d+); (error|warning|info|fatal)\s*: (.*)")


def _run(tool: str, lines: Sequence[str], point: Point) -> _Run:
    head = prelude(*point)
    source = "\n".join([head.rstrip("\n"), *lines, "L1:", "ret;", "}", ""])
    oldest = 50 if ptxas.version(Path(tool)).startswith("12.") else 75
    command = [tool, "-arch", architecture(point[1], oldest), "-o", "/dev/null", "-"]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    first = head.count("\n") + 1
    found: dict[int, str] = {}
    fatal: int | None = None
    broken = False
    for line in result.stderr.splitlines():
        if line.startswith(_BROKEN):  # it does not say in which line
            broken = True
            continue
        match = _MESSAGE.match(line)
        if match is None:
            if "aborted due to errors" not in line:
                raise RuntimeError(f"ptxas at {point}: {line}")
            continue
        number = int(match[1]) - first
        if match[2] in ("error", "fatal"):
            if not 0 <= number < len(lines):
                raise RuntimeError(f"ptxas at {point}, outside the lines: {line}")
            found.setdefault(number, match[3])
        if match[2] == "fatal":
            fatal = number
    finished = result.returncode == (255 if found else 0)
    return _Run(found, fatal, broken or not finished)


def architecture(target: Target, oldest: int) -> str:
    """The parse-only `-arch` for a target: its own, or the oldest that this ptxas still has."""
    renamed = {101: 110, 82: 86}.get(target.number, target.number)
    return f"compute_{max(renamed, oldest)}{target.suffix}"


_PLAIN: tuple[str, ...] = (
    "b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64",
    "f16", "f32", "f64", "pred",
)


def prelude(version: Version, target: Target) -> str:
    """Declarations of a register of every type, a variable of every space, a function, a label."""
    types = list(_PLAIN)
    if version >= (4, 2) and target.number >= 53:
        types.append("f16x2")
    if version >= (8, 3) and target.number >= 70:
        types.append("b128")
    lines = [f".version {version}", f".target {target}"]
    if version >= (2, 3):
        lines.append(".address_size 64")
    if version >= (1, 5):
        lines.append(".global .texref tex0; .global .surfref surf0;")
    else:
        lines.append(".tex .u32 tex0;")
    lines.append(".global .align 16 .b32 global0[16]; .const .align 16 .b32 const0[16];")
    lines.append(".shared .align 16 .b32 shared0[16];")
    space = ".param" if version >= (2, 0) and target.number >= 20 else ".reg"
    lines.append(".func f0() { ret; }")
    lines.append(f".func f1({space} .b32 p0) {{ ret; }}")
    lines.append(f".func ({space} .b32 r0) f2() {{ ret; }}")
    lines.append(f".func ({space} .b32 r0) f3({space} .b32 p0) {{ ret; }}")
    lines.append(f".entry k({'.param .u64 param0' if version >= (1, 4) else ''}) {{")
    lines.append(".local .align 16 .b32 local0[16];")
    if version >= (2, 0) and target.number >= 20:
        lines.append(".param .align 16 .b32 param1[16];")
    lines.extend(f".reg .{type} %{type}_<8>;" for type in types)
    if version >= (2, 1) and target.number >= 20:
        lines.append("L10: .callprototype _ ();")
        lines.append("L11: .callprototype _ (.param .b32 _);")
        lines.append("L12: .callprototype (.param .b32 _) _ ();")
        lines.append("L13: .callprototype (.param .b32 _) _ (.param .b32 _);")
    if version >= (6, 0) and target.number >= 30:
        lines.append("L2: .branchtargets L1;")
    return "\n".join(lines) + "\n"


def compare(entries: Iterable[Entry]) -> list[tuple[Case, Verdict]]:
    """Every case of the rows with ptxas's verdict."""
    return _compared((case for entry in entries for case in cases(entry)), None)


def _compared(asked: Iterable[Case], tool: Path | None) -> list[tuple[Case, Verdict]]:
    points: dict[Point, dict[Case, None]] = defaultdict(dict)
    for case in asked:
        points[case.version, case.target][case] = None
    with ThreadPoolExecutor(2) as pool:
        work = {
            point: pool.submit(judge, [case.line for case in group], point, tool)
            for point, group in points.items()
        }
        return [
            pair
            for point, group in points.items()
            for pair in zip(group, work[point].result(), strict=True)
        ]


# The record: one line for each point, verdict and operand list, with all its spellings.


def record(judged: Iterable[tuple[Case, Verdict]]) -> str:
    """The verdicts as text: `8.0 sm_90 + %s32_1, 1: add.s32 sub.s32`."""
    groups: dict[tuple[Version, Target, bool, str], set[str]] = defaultdict(set)
    for case, verdict in judged:
        key = (case.version, case.target, verdict.accepted, case.operands)
        groups[key].add(case.spelling)
    lines = (
        f"{version} {target} {'-+'[accepted]} {operands}: {' '.join(sorted(spellings))}"
        for (version, target, accepted, operands), spellings in groups.items()
    )
    return "\n".join(sorted(lines)) + "\n"


def recorded(text: str) -> dict[tuple[str, Point], bool]:
    """Reads a record back: (line, point) -> accepted."""
    found: dict[tuple[str, Point], bool] = {}
    for row in text.splitlines():
        version, name, sign, rest = row.split(" ", 3)
        operands, _, spellings = rest.rpartition(": ")
        target = parse_target(name)
        assert target is not None
        point = parse_version(version), target
        for spelling in spellings.split(" "):
            line = f"{spelling} {operands};" if operands else f"{spelling};"
            found[line, point] = sign == "+"
    return found


def explained(section: str) -> list[tuple[str, str]]:
    """The disagreements that are known: a pattern (fnmatch) for the line, a tab, and why."""
    path = VERDICTS / f"{section}.explained"
    rows = path.read_text().splitlines() if path.exists() else []
    return [(row.partition("\t")[0], row.partition("\t")[2]) for row in rows if row]


def is_explained(line: str, known: Iterable[tuple[str, str]]) -> bool:
    return any(fnmatchcase(line, pattern) for pattern, _ in known)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="judge", description="judge the table by ptxas")
    parser.add_argument("sections", nargs="*", help="sections (files of isa/instructions); none: all")
    parser.add_argument("--old", action="store_true", help="targets below sm_75, by ptxas 12.9")
    parser.add_argument("--entry", help="only rows whose name starts with this")
    parser.add_argument("--update", action="store_true", help="record the verdicts")
    parser.add_argument("--show", type=int, default=40, help="how many reasons to print")
    parser.add_argument("--examples", type=int, default=2, help="how many lines for each")
    parser.add_argument("--line", action="append", help="judge just this line")
    parser.add_argument("--at", nargs=2, default=("9.5", "sm_121a"), help="version and target")
    parser.add_argument("--prelude", action="store_true", help="print what a line may name")
    options = parser.parse_args(arguments)
    target = parse_target(options.at[1])
    assert target is not None, options.at[1]
    point = (parse_version(options.at[0]), target)
    if options.prelude:
        print(prelude(*point))
        return 0
    if options.line:
        for line, verdict in zip(options.line, judge(options.line, point), strict=True):
            print("accepted" if verdict.accepted else f"refused ({verdict.message})", line)
        return 0
    if options.old:
        return _old(options)
    unknown = set(options.sections) - set(sections())
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; the sections are {', '.join(sections())}")
    return max([_section(name, entries, options) for name, entries in sections().items()
                if not options.sections or name in options.sections], default=2)


def _section(name: str, entries: Sequence[Entry], options: argparse.Namespace) -> int:
    chosen = [entry for entry in entries if entry.name.startswith(str(options.entry or ""))]
    if not chosen:
        return 0
    return _report(name, compare(chosen), options)


def _old(options: argparse.Namespace) -> int:
    tool = old_ptxas()
    if tool is None:
        raise FileNotFoundError("no ptxas 12.9: install nvidia-cuda-nvcc-cu12")
    asked = (case for entry in table.all_entries() for case in old_cases(entry))
    return _report(OLD, _compared(asked, tool), options)


def _report(name: str, judged: list[tuple[Case, Verdict]], options: argparse.Namespace) -> int:
    known = explained(name)
    differ = [(case, verdict) for case, verdict in judged if case.accepted != verdict.accepted]
    wrong = [pair for pair in differ if not is_explained(pair[0].line, known)]
    lost = [pair for pair in wrong if pair[1].accepted]
    rate = 100 * (1 - len(differ) / len(judged))
    accepted = sum(verdict.accepted for _, verdict in judged)
    print(f"{name}: {len(judged)} lines, ptxas accepts {accepted};"
          f" agreement {rate:.2f} %, {len(lost)} refused by the table alone,"
          f" {len(differ) - len(wrong)} explained")
    for text, examples in _reasons(wrong)[: options.show]:
        print(f"  {len(examples):4} x {text}")
        for case in examples[: options.examples]:
            print(f"           {case.version} {case.target}  {case.line}")
    if options.update and not options.entry:
        VERDICTS.mkdir(exist_ok=True)
        (VERDICTS / f"{name}.txt").write_text(record(judged))
    return int(bool(wrong))


def _reasons(wrong: Iterable[tuple[Case, Verdict]]) -> list[tuple[str, list[Case]]]:
    """Disagreements by opcode and reason; what the table alone refuses comes first."""
    groups: dict[tuple[bool, str], list[Case]] = defaultdict(list)
    for case, verdict in wrong:
        opcode = case.spelling.partition(".")[0]
        says = f"ptxas accepts, table: {case.why}" if verdict.accepted else (
            f"table accepts, ptxas: {verdict.message}")
        groups[not verdict.accepted, f"{opcode}: {says}"].append(case)
    return [(text, found) for (_, text), found in sorted(groups.items())]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
