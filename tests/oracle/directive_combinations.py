"""Compares the linter with ptxas on directives of kernels and functions, three at a time.

    python -m tests.oracle.directive_combinations [--share 0.1] [PLACE ...]       judge, print disagreements
    python -m tests.oracle.directive_combinations --share 0.01 --update           the same, and record them

Every ordered choice of up to three `WORDS`, also of the same one twice, stands at each of the `PLACES`: heads
of kernels and functions, declarations, call prototypes, bodies, the module; for several versions and targets.

ptxas ends at the first syntax error. So that it judges much in one run, no combination is tried whose
beginning is one already: as it reads from left to right, nothing behind can mend that. What it takes when it
only reads, it must also make code of, many in one file. Lines of the record: place, verdict, directives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from tests.oracle.error_rules import error_rules

RECORDED = Path(__file__).parent / "directive_combinations.txt"
AT_ONCE = 2_000
"""So many combinations are in one file."""
WORDS = tuple(
    """
.maxntid 64 | .maxntid 0 | .reqntid 64 | .maxnreg 32 | .maxnreg 0 | .minnctapersm 2 | .maxnctapersm 4
.maxnctapersm 0 | .reqnctapercluster 2 | .reqnctapercluster 0 | .maxclusterrank 4 | .explicitcluster
.blocksareclusters | .minperctamemory 1024 | .language "PTX" | .language "C" | .local_maxnreg 32 | .noreturn
.abi_preserve 8 | .abi_preserve 240 | .abi_preserve_control 4 | .pragma "nounroll"; | .pragma "local_maxnreg";
.attribute(.unified(1, 2)) | .maxntid 64, 0
""".replace("\n", "|").replace("||", "|").strip("|").split("|")
)


class Where(NamedTuple):
    """A place for directives; `text` is what one combination stands in, with its number as `{n}`."""

    name: str
    version: str
    target: str
    text: str
    most: int = 3
    """So many directives at once; fewer where ptxas tells each wrong one behind them, in its own run."""


def _places() -> Iterator[Where]:
    kernel = ".entry k{n}() {words} {{ ret; }}"
    function = ".func f{n}() {words} {{ trap; }}"
    for version, target in (("9.5", "sm_90"), ("8.8", "sm_80"), ("7.8", "sm_90"), ("2.0", "sm_20")):
        yield Where(f"kernel {version} {target}", version, target, kernel)
    yield Where("kernel without parameters", "9.5", "sm_120", ".visible .entry k{n} {words} {{ ret; }}")
    yield Where("kernel before its parameters", "9.5", "sm_90", ".entry k{n} {words} () {{ ret; }}", 1)
    yield Where("kernel before its name", "9.5", "sm_90", ".entry {words} k{n}() {{ ret; }}")
    yield Where("kernel declared", "9.5", "sm_90", ".extern .entry k{n}() {words};", 2)
    for version, target in (("9.5", "sm_90"), ("8.8", "sm_80"), ("2.0", "sm_20")):
        yield Where(f"function {version} {target}", version, target, function)
    yield Where("function before its name", "9.5", "sm_90", ".func {words} f{n}() {{ trap; }}")
    yield Where("function with a result", "9.5", "sm_90",
                ".visible .func (.param .b32 r) f{n}() {words} {{ trap; }}")
    yield Where("function declared", "9.5", "sm_90", ".extern .func f{n}() {words};")
    yield Where("call prototype", "9.5", "sm_90",
                ".entry k{n}() {{ p: .callprototype _ () {words}; ret; }}")
    yield Where("body", "9.5", "sm_90", ".entry k{n}() {{ {words} ret; }}")
    yield Where("module", "9.5", "sm_90", "{words} .entry k{n}() {{ ret; }}")


PLACES = tuple(_places())


class Judged(NamedTuple):
    """What ptxas says of a combination at a place."""

    where: Where
    words: tuple[str, ...]
    accepted: bool

    @property
    def source(self) -> str:
        return _file(self.where, [self.words])


def judge(where: Where, tool: Path, share: float) -> list[Judged]:
    """Each directive at one place, and of the combinations a part drawn at random, always the same."""
    random = Random(where.name)
    verdicts: dict[tuple[str, ...], bool] = {}
    hopeless: set[tuple[str, ...]] = set()
    for length in range(1, where.most + 1):
        every = [
            words
            for words in product((word.strip() for word in WORDS), repeat=length)
            if length == 1 or random.random() < share
        ]
        verdicts.update((words, False) for words in every)
        open_ones = [words for words in every if not _begins_with_any(words, hopeless)]
        for first in range(0, len(open_ones), AT_ONCE):
            some = open_ones[first : first + AT_ONCE]
            taken = _read(where, some, tool, hopeless)
            verdicts.update((words, True) for words in _compiled(where, taken, tool))
    return [Judged(where, words, accepted) for words, accepted in verdicts.items()]


def _begins_with_any(words: tuple[str, ...], hopeless: set[tuple[str, ...]]) -> bool:
    return any(words[:length] in hopeless for length in range(1, len(words)))


def _read(
    where: Where, every: Sequence[tuple[str, ...]], tool: Path, hopeless: set[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Those that ptxas takes when it only reads. A syntax error at the directives or behind makes a
    combination `hopeless`, whatever else is put behind it, where it is at the directives themselves.
    """
    taken: list[tuple[str, ...]] = []
    rest = list(every)
    arch = where.target.replace("sm_", "compute_") if int(where.target[3:]) >= 75 else "compute_75"
    while rest:
        report = ptxas.judge(_file(where, rest).encode(), ptxas=tool, arch=arch)
        lines = {m.line: m for m in report.messages if m.severity in ("error", "fatal") and m.line}
        wrong = {line - _HEADER_LINES - 1: message for line, message in lines.items()}
        end = len(rest)
        for number, message in wrong.items():
            if message.severity == "fatal":
                end = min(end, number + 1)
                if any(f"near '{word.split()[0].rstrip(',')}" in message.text for word in rest[number]):
                    hopeless.add(rest[number])
        taken += (words for number, words in enumerate(rest[:end]) if number not in wrong)
        rest = rest[end:]
    return taken


def _compiled(
    where: Where, every: Sequence[tuple[str, ...]], tool: Path
) -> list[tuple[str, ...]]:
    """Those of which ptxas makes code, found by halves: not every message has a line."""
    if not every:
        return []
    arch = where.target if int(where.target[3:]) >= 75 else "sm_75"
    report = ptxas.judge(_file(where, every).encode(), ptxas=tool, arch=arch)
    if report.accepted:
        return list(every)
    if len(every) == 1:
        return []
    wrong = {m.line - _HEADER_LINES - 1 for m in report.messages if m.line and m.severity == "error"}
    if wrong:
        return _compiled(where, [w for number, w in enumerate(every) if number not in wrong], tool)
    half = len(every) // 2
    return [*_compiled(where, every[:half], tool), *_compiled(where, every[half:], tool)]


_HEADER_LINES = 3


def _file(where: Where, every: Iterable[tuple[str, ...]]) -> str:
    """Each combination on a line of its own."""
    size = ".address_size 64" if where.version >= "2.3" else ""
    lines = [
        where.text.format(n=number, words=" ".join(words)) for number, words in enumerate(every)
    ]
    return "\n".join((f".version {where.version}", f".target {where.target}", size, *lines, ""))


class Count(NamedTuple):
    """Of some combinations: how many ptxas rejects, and where the linter does otherwise."""

    judged: int
    rejected: int
    missed: list[Judged]
    false: list[Judged]

    @property
    def found_percent(self) -> float:
        return 100 * (1 - len(self.missed) / self.rejected) if self.rejected else 100.0


def compare(found: Iterable[Judged]) -> Count:
    """Lints each combination in a file of its own."""
    rules = error_rules()
    judged = rejected = 0
    missed: list[Judged] = []
    false: list[Judged] = []
    for one in found:
        judged += 1
        rejected += not one.accepted
        has_error = _has_error(one.source, rules)
        if one.accepted and has_error:
            false.append(one)
        elif not one.accepted and not has_error:
            missed.append(one)
    return Count(judged, rejected, missed, false)


def _has_error(source: str, rules: tuple[Rule, ...]) -> bool:
    found = LintSession(Module.parse(source), rules).diagnostics
    return any(diagnostic.severity == "error" for diagnostic in found)


def recorded() -> list[Judged]:
    """The record."""
    places = {where.name: where for where in PLACES}
    rows: list[Judged] = []
    for line in RECORDED.read_text().splitlines():
        name, verdict, words = line.split("\t")
        rows.append(Judged(places[name], tuple(words.split(" | ")), verdict == "accepted"))
    return rows


def _write(found: Iterable[Judged]) -> None:
    lines = [
        f"{one.where.name}\t{'accepted' if one.accepted else 'rejected'}\t{' | '.join(one.words)}\n"
        for one in found
    ]
    RECORDED.write_text("".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--ptxas", type=Path, help="another ptxas than the one found")
    parser.add_argument("--update", action="store_true", help="record what was judged")
    parser.add_argument("--share", type=float, default=1.0, help="only this part, drawn at random")
    parser.add_argument("places", nargs="*", help="their names; all if none are named")
    options = parser.parse_args()
    tool = ptxas.find(options.ptxas)
    if tool is None:
        parser.error("no ptxas at hand")
    total = Count(0, 0, [], [])
    sample: list[Judged] = []
    for where in PLACES:
        if options.places and where.name not in options.places:
            continue
        every = judge(where, tool, options.share)
        sample += every
        count = compare(every)
        print(f"{where.name}: {_told(count)}", flush=True)
        for kind, some in (("missed", count.missed), ("false", count.false)):
            for one in some[:10]:
                print(f"    {kind}: {' '.join(one.words)}")
        total = Count(
            total.judged + count.judged, total.rejected + count.rejected,
            total.missed + count.missed, total.false + count.false,
        )
    print(f"all: {_told(total)}")
    if options.update:
        _write(sample)
    return 1 if total.missed or total.false else 0


def _told(count: Count) -> str:
    return (
        f"{count.judged} combinations, {count.rejected} rejected by ptxas, of which the linter finds "
        f"{count.found_percent:.2f} %; {len(count.false)} false errors"
    )


if __name__ == "__main__":
    sys.exit(main())
