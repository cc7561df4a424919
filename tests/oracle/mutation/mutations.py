"""Damages accepted PTX as people do, and compares what ptxas and the linter say of it.

    python -m tests.oracle.mutation.mutations                      replay the record, print the table
    python -m tests.oracle.mutation.mutations --kind 'missing brace' --show 9    with disagreements
    python -m tests.oracle.mutation.mutations --suite made         the second suite; see `suite.py`
    python -m tests.oracle.mutation.mutations --update             judge by ptxas anew, write the record
    python -m tests.oracle.mutation.mutations --seed 7             other damage, judged now, nothing recorded
    python -m tests.oracle.mutation.mutations --corpus FOLDER      other files, judged now, nothing recorded

What the words of the table mean, for one damaged file:

- *rejected*: ptxas, in its parse-only mode or (suite `made`) generating code, ends with an error. Its
  lines are those of its messages of severity error or fatal. The linter's lines are those where its
  findings of severity error begin.
- *found*: the linter's first line is one of ptxas's, or ptxas names none and the linter reports an
  error. ptxas names the token it stumbles over; where that
  is a closing brace at the start of a line, the end of the file, or what follows a string that is not
  closed, the linter may point at the cause instead: its first line is then one of those from the token
  before the change to the end of the change. So it may within a section, whose values ptxas judges when
  it has read the next word, and where `.version` or `.target` is missing. Where a `}` is missing before
  a function, or its head is broken, ptxas names a line of the head or its `{`, and the linter may name any.
- *found later*: the linter reports an error on one of ptxas's lines, and one before it: mostly uses of what
  the broken statement declares, which ptxas does not come to. The suite `made` counts this as found.
- *wrong line*: the linter reports errors, but none of the above.   *missed*: it reports none.
- Left out are the failures of ptxas's reader of debugging data (`_NO_VERDICT`): they name no line and no
  cause, and say nothing of the PTX.
- *false error*: ptxas accepts the damaged file, and the linter reports an error.
- *stray*: not counted against agreement: ptxas rejects without stopping early (nothing fatal), and the
  linter reports an error on a line where ptxas has none.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source
from tests.oracle import corpus, made
from tests.oracle.error_rules import error_rules
from tests.oracle.mutation import damage
from tests.oracle.mutation.suite import COMPILED, MADE, Change, Suite
from tests.oracle.mutation.tokens import PtxFile

SUITES = {suite.name: suite for suite in (COMPILED, MADE)}
_REGISTERING = (damage, made)
"""The modules that fill the suites."""
COUNT, SEED = 3, 1
"""How many changes of each kind in each file the record has, and the seed that chose them."""

Outcome: TypeAlias = Literal[
    "found", "found later", "wrong line", "missed", "accepted", "false error"
]
_NO_VERDICT = (
    "Attempted to ",
    "Checked Data was Invalid",
    "Unsupported dwarf version",
    "Memory allocation failure",
)


class Verdict(NamedTuple):
    """The lines (from 1) where ptxas reports an error, in order, and the message of the first.

    An error of the whole file has no line.
    """

    lines: tuple[int, ...]
    message: str
    fatal: bool

    @property
    def accepted(self) -> bool:
        return not self.message


class Mutation(NamedTuple):
    kind: str
    file: str
    change: Change


class Compared(NamedTuple):
    """`stray`: the linter's lines that ptxas does not have, where ptxas went through to the end."""

    mutation: Mutation
    verdict: Verdict
    found: tuple[tuple[int, str], ...]
    outcome: Outcome
    stray: tuple[int, ...]


# -- mutations and their judges -----------------------------------------------------------------


def mutations(
    suite: Suite, files: Iterable[PtxFile], count: int, seed: int
) -> Iterator[Mutation]:
    """`count` of each kind for each file, in an order that never changes."""
    for file in files:
        for kind in suite.kinds:
            for change in suite.changes(kind, file, count, seed):
                yield Mutation(kind, file.name, change)


def judged(
    suite: Suite, found: Sequence[Mutation], files: dict[str, PtxFile]
) -> list[tuple[Mutation, Verdict]]:
    """What ptxas says of each. Where ptxas crashes there is no verdict, and no pair."""
    tool = ptxas.find()
    if tool is None:
        raise FileNotFoundError("no ptxas at hand")

    def judge(mutation: Mutation) -> Verdict | None:
        text = files[mutation.file].text
        arch = None if suite.generates_code else corpus.judging_architecture(text)
        try:
            report = ptxas.judge(
                mutation.change.applied(text).encode(), ptxas=tool, arch=arch, timeout_s=20
            )
        except ptxas.PtxasError:
            return None
        return _verdict(report)

    with ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(judge, found)
        return [(m, v) for m, v in zip(found, verdicts, strict=True) if v is not None]


def _verdict(report: ptxas.Report) -> Verdict | None:
    errors = [m for m in report.messages if m.severity in ("error", "fatal")]
    lines = sorted({m.line for m in errors if m.line is not None})
    if report.accepted:
        return Verdict((), "", False)
    first = min(errors, key=lambda m: m.line or sys.maxsize)
    if not lines and first.text.startswith(_NO_VERDICT):
        return None
    return Verdict(tuple(lines), first.text, any(m.severity == "fatal" for m in errors))


class Linter:
    """The linter on changes of one file. It lints by edits, which `tests/properties` proves equal."""

    def __init__(self, file: PtxFile) -> None:
        self.file = file
        self.module = Module(Document.parse(Source.of(file.text)))
        self.linting = LintSession(self.module, error_rules())
        self.is_ascii = file.text.isascii()

    def errors(self, change: Change) -> tuple[tuple[int, str], ...]:
        """The line, from 1, and the message of each finding of severity error, in order."""
        if self.is_ascii:
            edit = Edit(change.start, change.end, change.text.encode())
            module = Module(self.module.document.edited(edit), self.module)
            linting = LintSession(module, error_rules(), self.linting)
        else:
            linting = LintSession(Module.parse(change.applied(self.file.text)), error_rules())
        source = linting.module.document.source
        return tuple(
            (source.line_of(found.span.start) + 1, f"[{found.rule}] {found.message}")
            for found in linting.diagnostics
            if found.severity == "error"
        )


def compare(linter: Linter, mutation: Mutation, verdict: Verdict) -> Compared:
    """See the words at the top of this file."""
    found = linter.errors(mutation.change)
    lines = tuple(sorted({line for line, _ in found}))
    stray: tuple[int, ...] = ()
    outcome: Outcome
    if verdict.accepted:
        outcome = "false error" if lines else "accepted"
    elif not lines:
        outcome = "missed"
    else:
        expected = set(verdict.lines or lines) | _causes(linter.file, mutation, verdict)
        if lines[0] in expected:
            outcome = "found"
        else:
            outcome = "wrong line" if expected.isdisjoint(lines) else "found later"
        if not verdict.fatal:
            stray = tuple(line for line in lines if line not in expected)
    return Compared(mutation, verdict, found, outcome, stray)


def _causes(file: PtxFile, mutation: Mutation, verdict: Verdict) -> set[int]:
    """The lines of the change, where ptxas points at something else that it could not take."""
    text, change = file.text, mutation.change
    heads = _heads(file, change, verdict)
    if mutation.kind == "missing brace":
        return heads
    lines = change.applied(text).split("\n")
    beyond = len(lines) - (lines[-1] == "")
    in_section = any(s.start <= change.start <= s.end for s in file.of("section"))
    if verdict.message.startswith(_MISSING_HEADER):
        return set(range(1, verdict.lines[0] + 1))
    if mutation.kind != "unclosed string" and not in_section and not any(
        n > beyond or lines[n - 1].lstrip().startswith("}") for n in verdict.lines
    ):
        return heads
    before = text[: change.start].rstrip()
    end = text.count("\n", 0, change.start) + change.text.count("\n") + 1
    return heads | set(range(before.count("\n") + 1, end + 1))


_MISSING_HEADER = ("Missing .version", "Missing .target")
"""ptxas says so of the line that it has come to."""


def _heads(file: PtxFile, change: Change, verdict: Verdict) -> set[int]:
    """The lines of the heads of functions into which, or behind which, ptxas points."""
    text = file.text
    added = change.text.count("\n") - text.count("\n", change.start, change.end)
    found: set[int] = set()
    for head in file.of("head"):
        first = text.count("\n", 0, head.start) + 1 + added * (head.start >= change.end)
        last = text.count("\n", 0, head.end) + 2 + added * (head.end >= change.end)
        if any(first <= line <= last for line in verdict.lines):
            found.update(range(first, last + 1))
    return found


def compare_all(
    pairs: Iterable[tuple[Mutation, Verdict]], files: dict[str, PtxFile]
) -> list[Compared]:
    linters: dict[str, Linter] = {}
    found: list[Compared] = []
    for mutation, verdict in pairs:
        if mutation.file not in linters:
            linters = {mutation.file: Linter(files[mutation.file])}  # one at a time: they are large
        found.append(compare(linters[mutation.file], mutation, verdict))
    return found


# -- the record ---------------------------------------------------------------------------------
# A line for each file and kind, then one for each change:
#   start end "text"                                 accepted
#   start end "text" line,line,... fatal: message    rejected; message of the first line


def write(pairs: Iterable[tuple[Mutation, Verdict]]) -> str:
    """The text of a record."""
    rows: list[str] = []
    heading = ""
    for mutation, verdict in pairs:
        new = f"{mutation.file}: {mutation.kind}"
        if new != heading:
            heading = new
            rows.append(new)
        start, end, text = mutation.change
        row = f"  {start} {end} {json.dumps(text)}"
        if not verdict.accepted:
            word = "fatal" if verdict.fatal else "error"
            lines = ",".join(map(str, verdict.lines))
            row += f" {lines or '-'} {word}: {verdict.message}"
        rows.append(row)
    return "\n".join(rows) + "\n"


@cache
def recorded(suite: Suite) -> tuple[tuple[Mutation, Verdict], ...]:
    """The record of this repository."""
    found: list[tuple[Mutation, Verdict]] = []
    file = kind = ""
    for row in suite.record.read_text().splitlines():
        if not row.startswith(" "):
            file, _, kind = row.partition(": ")
            continue
        start, end, rest = row.split(maxsplit=2)
        text, stop = json.JSONDecoder().raw_decode(rest)
        mutation = Mutation(kind, file, Change(int(start), int(end), text))
        lines, _, said = rest[stop:].strip().partition(" ")
        word, _, message = said.partition(": ")
        numbers = tuple(int(line) for line in lines.split(",")) if lines not in ("", "-") else ()
        found.append((mutation, Verdict(numbers, message, word == "fatal")))
    return tuple(found)


# -- the table ----------------------------------------------------------------------------------


_REJECTED = ("found", "found later", "wrong line", "missed")


class Row(NamedTuple):
    """One kind's figures."""

    outcomes: Counter[str]
    stray: int

    @property
    def rejected(self) -> int:
        return sum(self.outcomes[name] for name in _REJECTED)

    def agreement(self, suite: Suite) -> float:
        """The share of what ptxas rejects that was found; 1 where it rejects nothing."""
        found = sum(self.outcomes[name] for name in suite.agreeing)
        return found / self.rejected if self.rejected else 1.0


def tally(suite: Suite, compared: Iterable[Compared]) -> dict[str, Row]:
    """The figures of each kind."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    stray: Counter[str] = Counter()
    for one in compared:
        outcomes[one.mutation.kind][one.outcome] += 1
        stray[one.mutation.kind] += bool(one.stray)
    return {kind: Row(outcomes[kind], stray[kind]) for kind in suite.kinds if kind in outcomes}


def table(suite: Suite, compared: Sequence[Compared]) -> str:
    """The figures as a Markdown table."""
    columns = (*_REJECTED, "agreement", "accepted", "false errors", "stray")
    rows = [f"| kind | rejected | {' | '.join(columns)} |", "|---" + "|--:" * (len(columns) + 1) + "|"]
    figures = tally(suite, compared)
    rows.extend(_row(suite, kind, row) for kind, row in figures.items())
    total = sum((row.outcomes for row in figures.values()), Counter[str]())
    rows.append(_row(suite, "all", Row(total, sum(row.stray for row in figures.values()))))
    return "\n".join(rows)


def _row(suite: Suite, kind: str, row: Row) -> str:
    count = row.outcomes
    accepted = count["accepted"] + count["false error"]
    return (
        f"| {kind} | {row.rejected} | {' | '.join(str(count[name]) for name in _REJECTED)}"
        f" | {100 * row.agreement(suite):.1f} % | {accepted} | {count['false error']} | {row.stray} |"
    )


def explain(one: Compared, files: dict[str, PtxFile]) -> str:
    """A disagreement, for a person to read."""
    text = files[one.mutation.file].text
    start, end, new = one.mutation.change
    line = text.count("\n", 0, start) + 1
    where = text[text.rfind("\n", 0, start) + 1 : text.find("\n", start)].strip()
    own = "; ".join(f"{n}: {message}" for n, message in one.found[:2]) or "nothing"
    stray = f" (stray lines {', '.join(map(str, one.stray[:4]))})" if one.stray else ""
    return (
        f"{one.outcome}: {one.mutation.kind}, {one.mutation.file}:{line}: {where!r}\n"
        f"    {text[start:end][:60]!r} -> {new[:60]!r}\n"
        f"    ptxas {list(one.verdict.lines[:5])} {one.verdict.message}\n    we: {own}{stray}"
    )


# -- the command --------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="mutations", description="the linter against ptxas")
    parser.add_argument("--suite", choices=SUITES, default=COMPILED.name)
    parser.add_argument("--update", action="store_true", help="judge anew and write the record")
    parser.add_argument("--corpus", type=Path, help="a folder of accepted files, with truth.jsonl")
    parser.add_argument("--count", type=int, default=COUNT, help="changes of a kind in a file")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--largest", type=int, default=100_000, help="bytes of a file of --corpus")
    parser.add_argument("--kind", action="append", help="only this kind")
    parser.add_argument("--show", type=int, default=0, help="disagreements to print for each kind")
    parser.add_argument("--outcome", help="show only these disagreements")
    parser.add_argument("--stray", action="store_true", help="print those with stray errors too")
    options = parser.parse_args(arguments)
    suite = SUITES[options.suite]
    paths = list(corpus.accepted(options.corpus)) if options.corpus else suite.files
    paths = [path for path in paths if path.stat().st_size <= options.largest]
    files = {path.name: PtxFile(path.name, path.read_bytes().decode("latin-1")) for path in paths}
    if options.update or options.corpus or options.seed != SEED:
        found = list(mutations(suite, files.values(), options.count, options.seed))
        if options.kind:
            found = [mutation for mutation in found if mutation.kind in options.kind]
        pairs = judged(suite, found, files)
        if options.update and not (options.corpus or options.kind or options.seed != SEED):
            suite.record.write_text(write(pairs))
    else:
        pairs = list(recorded(suite))
    if options.kind:
        pairs = [pair for pair in pairs if pair[0].kind in options.kind]
    compared = compare_all(pairs, files)
    shown = [one for one in compared if options.outcome in (None, one.outcome)]
    _show(suite, shown, files, options.show, options.stray)
    print(table(suite, compared))
    return 0


def _show(
    suite: Suite, compared: Sequence[Compared], files: dict[str, PtxFile], most: int, stray: bool
) -> None:
    shown: Counter[str] = Counter()
    for one in compared:
        agrees = one.outcome in (*suite.agreeing, "accepted") and not (stray and one.stray)
        if agrees or shown[one.mutation.kind] >= most:
            continue
        shown[one.mutation.kind] += 1
        print(explain(one, files), end="\n\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
