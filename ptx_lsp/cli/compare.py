"""`ptx-lint compare OLD NEW`: compares the kernels of two states."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from ptx_lsp.cli import saved_report as saved
from ptx_lsp.cli.arguments import UsageError, complain
from ptx_lsp.cli.checking.jobs import check_all
from ptx_lsp.cli.collecting import collect, links_out
from ptx_lsp.cli.command_line import parse
from ptx_lsp.cli.option_parser import Formatter, Parser, jobs
from ptx_lsp.cli.output import keep_apart, style, write
from ptx_lsp.cli.plan import Plan
from ptx_lsp.command_parser import CommandParser
from ptx_lsp.lint.reporters.comparison import comparison_json
from ptx_lsp.lint.reporters.json import dumps
from ptx_lsp.lint.reporters.markdown import code, kernel_name, prose, table
from ptx_lsp.lint.results.comparison import Change, Comparison, Interval, Pair, Subject, compare
from ptx_lsp.lint.results.display_names import display_names
from ptx_lsp.lint.results.report import FileReport, interval_text
from ptx_lsp.lint.results.style import Style, at_line_start, printable
from ptx_lsp.parallel.jobs import Jobs

_MOST_SPELLINGS = 6
"""Instructions per line of text; JSON has all."""


class Options(argparse.Namespace):
    """The parsed command line."""

    old: str
    new: str
    format: Literal["text", "markdown", "json"]
    output: str | None
    all: bool
    fail_on_worse: bool
    target: str | None
    threads: str | None
    maxrregcount: int | None
    config: str | None
    no_config: bool
    ptxas: str | None
    jobs: Jobs


def run(words: Sequence[str]) -> int:
    """Prints the comparison. Returns 0, or 1 with --fail-on-worse if something got worse. Raises UsageError.
    """
    parser = _parser()
    given = parser.checked([f"{word}=" if word == "--ptxas" else word for word in words])
    options = parser.parse_args(given, Options())
    old, new = _checked(options.old, options), _checked(options.new, options)
    read = [options.old, options.new, *(file.container or file.path for file in [*old, *new])]
    keep_apart([options.output], read)
    found = compare(old, new)
    whole = parse(["-"] if options.output is None else ["-", "--output", options.output])
    write(_WRITERS[options.format](found, style(whole), options.all), whole)
    worse = any(pair.is_worse for pair in found.pairs)
    return int(worse and options.fail_on_worse)


def _parser() -> CommandParser:
    parser = Parser(
        prog="ptx-lint compare", description=__doc__, allow_abbrev=False,
        formatter_class=Formatter,
    )
    parser.add_argument(
        "old", metavar="OLD", help="the old file or directory, or a report written with --format json"
    )
    parser.add_argument("new", metavar="NEW", help="the new file or directory, or its report")
    parser.add_argument(
        "--format", choices=tuple(_WRITERS), default="text",
        help="text (default), markdown for a pull request, or json",
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="write the comparison to FILE")
    parser.add_argument("--all", action="store_true", help="also list unchanged kernels")
    parser.add_argument(
        "--fail-on-worse", action="store_true",
        help="exit with 1 if a kernel has more registers, memory, spills, divergent branches or findings, "
        "or lower occupancy",
    )
    parser.add_argument(
        "--target", metavar="T", help="check against target T instead of the files' `.target`"
    )
    parser.add_argument(
        "--threads", metavar="N|XxY[xZ]",
        help="threads per block, for kernels whose directives do not set it",
    )
    parser.add_argument(
        "--maxrregcount", type=int, metavar="N",
        help="maximum registers per thread, unless directives set a limit",
    )
    parser.add_argument("--ptxas", metavar="PATH", help="measure with ptxas (or the one at PATH)")
    either = parser.add_mutually_exclusive_group()
    either.add_argument(
        "--config", metavar="FILE", help="use this configuration for both sides instead of NEW's"
    )
    either.add_argument("--no-config", action="store_true", help="ignore all configuration files")
    parser.add_argument("--jobs", "-j", type=jobs, metavar="N", help="number of parallel processes, or dask://HOST:PORT")
    return parser


def _checked(path: str, options: Options) -> list[FileReport]:
    """The reports of one side. The configuration of NEW applies to both sides, so that only the kernels
    differ.
    """
    if path.endswith(".json"):
        return saved.read(path)
    words = ["--kernels"]
    words += ["--target", options.target] if options.target is not None else []
    words += ["--threads", options.threads] if options.threads is not None else []
    words += ["--maxrregcount", str(options.maxrregcount)] if options.maxrregcount is not None else []
    words += [f"--ptxas={options.ptxas}"] if options.ptxas is not None else []
    words += ["--config", options.config] if options.config is not None else []
    words += ["--no-config"] if options.no_config else []
    words += ["--", path]
    lint = parse(words)
    plan, left_out = Plan(lint), list[str]()
    if not options.new.endswith(".json"):
        plan.judge_as(path, options.new)
    inputs = [one for one in collect(lint.paths, path, left_out.append, plan.containers) if plan.wanted(one)]
    for note in links_out(left_out):
        complain(note)
    works = [(one, plan.settings(one)) for one in inputs]
    files = list(check_all(works, options.jobs, False, plan.cache()))
    readable = {file.container for file in files if file.error is None and file.container is not None}
    for file in files:
        if file.error is None:
            continue
        if file.container not in readable:
            raise UsageError(f"`{file.path}`: {file.error}")
        complain(f"warning: {file.path}: {file.error}")
    return files


def _text(found: Comparison, painted: Style, every: bool) -> Iterator[str]:
    same = [pair for pair in found.pairs if pair.is_same]
    for pair in found.pairs:
        if pair.is_same and not every:
            continue
        yield painted.paint(_title(pair), "bold")
        width = max((len(one.name) for one in pair.figures), default=0)
        for one in pair.figures:
            if every or one.old != one.new:
                colour = "red" if one.is_worse else "green" if one.is_better else ""
                text = f"  {one.name:{width}}  {_change(one)}"
                yield painted.paint(text, colour) if colour else text
        if pair.instructions:
            yield f"  instructions: {_mix(pair)}"
        for rule, number in pair.findings:
            yield painted.paint(f"  findings: {number:+} {printable(rule)}", "red" if number > 0 else "green")
        yield ""
    for name, rows in (("gone", found.gone), ("new", found.added)):
        for one in rows:
            yield f"{name}: {_place(one)}"
    yield (
        f"{len(found.pairs)} kernel{'' if len(found.pairs) == 1 else 's'} compared, "
        f"{len(same)} of them the same; "
        f"{len(found.added)} new, {len(found.gone)} gone."
    )


def _markdown(found: Comparison, painted: Style, every: bool) -> Iterator[str]:
    shown = [pair for pair in found.pairs if every or not pair.is_same]
    worse = sum(pair.is_worse for pair in found.pairs)
    yield (
        f"### ptx-lint compare: {len(found.pairs)} kernels, {len(shown)} changed, {worse} worse, "
        f"{len(found.added)} new, {len(found.gone)} gone"
    )
    subjects = [*(pair.new for pair in shown), *(pair.old for pair in shown), *found.added, *found.gone]
    names = display_names(one.kernel.name for one in subjects)
    rows = [_row(pair, names) for pair in shown]
    if rows:
        yield from table(
            ("kernel", "registers", "occupancy", "shared", "spills", "instructions", "findings"), rows
        )
    for name, subjects in (("New", found.added), ("Gone", found.gone)):
        if subjects:
            yield ""
            yield f"{name}: {', '.join(kernel_name(one.kernel.name, names) for one in subjects[:50])}"


def _row(pair: Pair, names: Mapping[str, str]) -> tuple[str, ...]:
    figures = {one.name: one for one in pair.figures}
    name = kernel_name(pair.new.kernel.name, names)
    if pair.likeness < 1:
        name += f" (was {kernel_name(pair.old.kernel.name, names)})"
    findings = ", ".join(f"{number:+} {code(rule)}" for rule, number in pair.findings)
    total = figures["instructions"]
    return (
        name,
        *(_in_cell(figures.get(one)) for one in ("registers", "occupancy", "shared", "spills")),
        f"{_in_cell(total)}<br>{prose(_mix(pair))}" if pair.instructions else _in_cell(total),
        findings or "the same",
    )


def _in_cell(one: Change | None) -> str:
    if one is None:
        return "?"
    if one.old == one.new:
        return _new(one)
    mark = " \u26a0\ufe0f" if one.is_worse else ""
    return f"{_old(one)} \u2192 **{_new(one)}**{mark}"


def _json(found: Comparison, painted: Style, every: bool) -> Iterator[str]:
    yield dumps(comparison_json(found))


def _title(pair: Pair) -> str:
    old, new = pair.old, pair.new
    if pair.likeness < 1:
        return f"{_place(new)}, was {_place(old)} ({pair.likeness:.0%} alike)"
    return f"{_place(new)}, was {printable(old.path)}:{old.kernel.line}"


def _place(one: Subject) -> str:
    return f"{at_line_start(one.kernel.name)} ({printable(one.path)}:{one.kernel.line})"


def _mix(pair: Pair) -> str:
    rows = [f"{number:+} {printable(name)}" for name, number in pair.instructions[:_MOST_SPELLINGS]]
    more = len(pair.instructions) - len(rows)
    return ", ".join(rows) + (f" and {more} more" if more > 0 else "")


def _change(one: Change) -> str:
    says = "" if one.says == "exact" else f", {one.says}"
    if one.old is None or one.new is None or one.old == one.new:
        return f"{_old(one)} -> {_new(one)}" if one.old != one.new else f"{_new(one)}{says}"
    return f"{_old(one)} -> {_new(one)} ({one.new - one.old:+g}{says})"


def _old(one: Change) -> str:
    return _shown(one.old, one, one.intervals[0])


def _new(one: Change) -> str:
    return _shown(one.new, one, one.intervals[1])


def _shown(value: float | None, one: Change, interval: Interval | None) -> str:
    if value is None:
        return "?"
    about = "~" if one.says == "estimated" else ""
    return f"{about}{value:g}{f' {one.unit}' if one.unit else ''}{interval_text(interval)}"


_WRITERS: dict[str, Callable[[Comparison, Style, bool], Iterator[str]]] = {
    "text": _text, "markdown": _markdown, "json": _json,
}
