"""The command `ptx-lint`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import closing

from ptx_lsp.cli.arguments import Options, UsageError, complain
from ptx_lsp.cli.command_line import parse
from ptx_lsp.cli.ending import QuickEnd
from ptx_lsp.code_cache import CodeCache
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from ptx_lsp.cli.binary_output import BinaryReports
    from ptx_lsp.cli.checking.jobs import Work
    from ptx_lsp.cli.inputs import Input
    from ptx_lsp.cli.plan import Plan
    from ptx_lsp.cli.tally import Tally
    from ptx_lsp.lint.diagnostic import Severity
    from ptx_lsp.lint.results.report import FileReport
    from ptx_lsp.lint.results.reporter import AnyReporter

# Slow imports are deferred until needed: `--version` needs none of them.

NOTHING, FINDINGS, TROUBLE = 0, 1, 2
"""The exit statuses."""
INTERRUPTED = 130

COMMANDS = {
    "config": "ptx_lsp.cli.configure",
    "blame": "ptx_lsp.cli.blame.command",
    "compare": "ptx_lsp.cli.compare",
    "extract": "ptx_lsp.cli.extract",
    "completion": "ptx_lsp.cli.completion",
    "man": "ptx_lsp.cli.manual",
}
"""The subcommands; each module has a function `run` that takes the remaining words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status; see docs/ptx-lint.md. Without `argv`, the command is the
    process itself, and may end it.
    """
    if argv is not None:
        return _status(list(argv))
    gc.disable()  # a short process has little garbage; the collector would traverse all that is imported
    end, cache = QuickEnd(), CodeCache()
    cache.install()
    end.status = _status(sys.argv[1:])
    cache.write()
    return end.status


def _status(words: list[str]) -> int:
    try:
        command = _command(words)
        return command(words[1:]) if command is not None else _run(parse(words))
    except SystemExit as done:  # --help, --version or a usage error, already reported
        return done.code if isinstance(done.code, int) else TROUBLE
    except UsageError as error:
        complain(f"error: {error}")
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        from ptx_lsp.unbuilt import unbuilt

        message = unbuilt(error)
        if message is not None:
            complain(f"error: {message}")
        else:
            from ptx_lsp.cli.checking.check import located

            complain(f"internal error, please report it: {located(error)}")
    return TROUBLE


def _command(words: Sequence[str]) -> Callable[[Sequence[str]], int] | None:
    """The subcommand that the first word names, unless it is a file."""
    if not words or words[0] not in COMMANDS or os.path.lexists(words[0]):
        return None
    from importlib import import_module

    return import_module(COMMANDS[words[0]]).run


def _run(options: Options) -> int:
    if options.rules or options.explain is not None:
        return _explain(options)
    if not options.paths:
        raise UsageError("missing PATH: name files or directories, or `-` for standard input")
    if options.cfg is not None:
        return _graph(options)
    _formats(options)
    _refuse(options)
    return _once(options).status if not options.watch else _watch(options)


class Outcome(NamedTuple):
    """The exit status of a run, and the files that determine it."""

    status: int
    watched: tuple[str, ...]


def _once(options: Options, only_files: bool = False) -> Outcome:
    from ptx_lsp.cli.collecting import collect, links_out
    from ptx_lsp.cli.inputs import Input
    from ptx_lsp.cli.output import keep_apart
    from ptx_lsp.cli.plan import Plan
    from ptx_lsp.cli.tally import NOTHING_FOUND

    plan, left_out = Plan(options), list[str]()
    found = collect(options.paths, options.stdin_filename, left_out.append, plan.containers)
    inputs = [one for one in found if plan.wanted(one)]
    watched = (*map(str, plan.files(inputs)), *(one.file for one in inputs))
    if only_files:
        return Outcome(NOTHING, watched)
    for note in links_out([path for path in left_out if plan.wanted(Input(path, was_found=True))]):
        complain(note)
    if options.show_files:
        from ptx_lsp.cli.output import write
        from ptx_lsp.lint.results.style import at_line_start

        write((at_line_start(one.path) for one in inputs), options)
        return Outcome(NOTHING, watched)
    _refuse_to_write(options, inputs)
    works = [(one, plan.settings(one)) for one in inputs]
    known = plan.baseline()
    read = [*map(str, plan.files(inputs)), *([str(known)] if known is not None else [])]
    outputs = [options.output, options.report, *(path for _, path in options.written)]
    keep_apart(outputs, [*read, *(one.file for one in inputs if one.data is None)])
    for note in plan.notes:
        complain(note)
    if not inputs:
        complain(NOTHING_FOUND)
    return Outcome(_checked(options, plan, works), watched)


def _watch(options: Options) -> NoReturn:
    from ptx_lsp.cli.checking.watch import watch
    from ptx_lsp.lint.configuration.config import FILE_NAMES

    def run() -> None:
        try:
            _once(options)
        except UsageError as error:  # a configuration that is being written
            complain(f"error: {error}")

    def watched() -> tuple[str, ...]:
        try:
            return (*FILE_NAMES, *_once(options, only_files=True).watched)
        except UsageError:
            return (*FILE_NAMES, *options.paths)

    watch(run, watched)


def _checked(options: Options, plan: Plan, works: Sequence[Work]) -> int:
    formats = [(options.format, options.output), *options.written]
    if options.diff or options.add_ignore or not any(_is_binary(name) for name, _ in formats):
        return _reported(options, plan, works, None)
    from ptx_lsp.cli.binary_output import BinaryReports, binary_formats

    with BinaryReports(binary_formats(options, formats)) as binary:
        return _reported(options, plan, works, binary)


def _reported(
    options: Options, plan: Plan, works: Sequence[Work], binary: BinaryReports | None
) -> int:
    from ptx_lsp.cli.checking.jobs import check_all
    from ptx_lsp.cli.checking.reports import Reports
    from ptx_lsp.cli.output import in_terminal
    from ptx_lsp.cli.tally import Tally

    known, tally = plan.baseline(), Tally(plan)
    with closing(check_all(works, options.jobs, not options.quiet, plan.cache())) as checked:
        made = tally.counted(works, checked)
        if binary is not None and known is None:
            made = binary.passed_on(made, plan.needs_kernels)
        if options.fix or options.diff or options.add_ignore or options.report or known is not None:
            return _changed(options, plan, tally, list(made), known, binary)
        has_bar = in_terminal(options)  # a bar of progress, and lines cannot come before it ends
        reports = Reports(made, is_kept=has_bar or not _is_once(options))
        if has_bar:
            reports.finish()
        try:
            _print_reports(options, plan.min_severity, reports, ())
        except UsageError:
            reports.finish()  # also what cannot be written has troubles to tell
            raise
        reports.finish()  # the reader may have gone away
    return _exit_status(options, tally.has_trouble, tally.has_failing)


def _changed(
    options: Options, plan: Plan, tally: Tally, reports: Sequence[FileReport], known: Path | None,
    binary: BinaryReports | None,
) -> int:
    """Applies what needs all reports: fixes, the baseline, and a page."""
    from ptx_lsp.cli.output import style, write, write_data, write_file

    files, improved = reports, False
    inputs = [one for one, _ in tally.works]
    if options.diff:
        from ptx_lsp.cli.checking.edits import diff

        write_data(b"".join(diff(inputs, files, style(options))), options)
        return _exit_status(options, tally.has_trouble, any(file.text is not None for file in files))
    remarks: tuple[str, ...] = ()
    if options.fix:
        from ptx_lsp.cli.checking.edits import write_fixes

        remarks = tuple(write_fixes(inputs, files))
    if known is not None:
        from ptx_lsp.cli.checking.baseline_run import apply_baseline

        files, told, improved = apply_baseline(options, known, tally.works, files)
        remarks += told
        if binary is not None:
            for file in files:
                binary.add(file)
    if options.add_ignore:
        from ptx_lsp.cli.checking.edits import add_ignores

        remarks += tuple(add_ignores(inputs, files))
        write(remarks, options)
        return TROUBLE if tally.has_trouble else NOTHING
    if options.report is not None:
        from ptx_lsp.cli.page import page

        write_file(page(files, plan.min_severity), options.report)
    _print_reports(options, plan.min_severity, files, remarks)
    failed = any(map(tally.fails, files)) or (options.ratchet and improved)
    return _exit_status(options, tally.has_trouble, failed)


def _exit_status(options: Options, has_trouble: bool, failed: bool) -> int:
    if has_trouble:
        return TROUBLE
    return FINDINGS if failed and not options.exit_zero else NOTHING


def _is_once(options: Options) -> bool:
    """Whether the only text report goes through the files once."""
    from ptx_lsp.lint.results.reporter import Reporter

    names = [options.format, *(name for name, _ in options.written)]
    texts = [one for one in map(_reporter, names) if isinstance(one, Reporter)]
    return not options.kernels and not options.requires and len(texts) == 1 and texts[0].is_once


def _refuse(options: Options) -> None:
    """Raises UsageError for options that cannot be combined."""
    if options.requires:
        if options.targets:
            raise UsageError("--requires supports one target: use --target instead of --targets")
        if options.report is not None:
            raise UsageError("--report cannot be combined with --requires")
    if options.unsafe_fixes and not options.diff:
        options.fix = True
    if (options.fix or options.diff) and (options.add_ignore or options.requires):
        raise UsageError("--fix and --diff cannot be combined with --add-ignore or --requires")
    if options.diff and options.fix and not options.unsafe_fixes:
        raise UsageError("--fix and --diff cannot be combined")
    if options.watch and "-" in options.paths:
        raise UsageError("--watch cannot watch standard input")
    if (options.update_baseline or options.ratchet) and options.no_baseline:
        raise UsageError("--no-baseline cannot be combined with options that use the baseline")


def _refuse_to_write(options: Options, inputs: Sequence[Input]) -> None:
    """Raises UsageError if a member of a container, which is only read, was named to be changed."""
    if not (options.fix or options.diff or options.add_ignore):
        return
    for one in inputs:
        if one.container is not None and not one.was_found:
            name = "--add-ignore" if options.add_ignore else "--diff" if options.diff else "--fix"
            raise UsageError(
                f"{name} cannot change `{one.path}`, which is in a container; "
                "`ptx-lint extract` writes the PTX of a container to files"
            )


def _formats(options: Options) -> None:
    """Takes `--format X=FILE` apart, and checks every name. Raises UsageError."""
    from ptx_lsp.lint.results.reporter import find, reporters

    printed = "full" if not options.statistics else "statistics"
    for text in options.formats:
        name, equals, path = text.partition("=")
        if name in ("dot", "svg"):
            raise UsageError(f"--format {name} requires --cfg")
        if not name.isascii() or find(name) is None:
            from ptx_lsp.lint.configuration.selection import did_you_mean

            choices = ", ".join(reporters())
            near = did_you_mean(name, reporters())
            raise UsageError(f"--format: invalid choice: {name!r} (choose from {choices}){near}")
        if equals and not path:
            raise UsageError(f"--format {name}=FILE: missing file name")
        if path:
            options.written.append((name, path))
        else:
            printed = name
    options.format = printed


def _print_reports(
    options: Options, least: Severity, files: Collection[FileReport], remarks: tuple[str, ...]
) -> None:
    """Writes every requested report: files first, as printing may end the run."""
    from ptx_lsp.cli.output import columns, style, write, write_file
    from ptx_lsp.lint.results.reporter import Reporter, Run

    plain = Run(files, remarks, quiet=options.quiet, kernels=options.kernels, least=least)
    for name, path in options.written:
        if isinstance(reporter := _reporter(name), Reporter):
            write_file(reporter.write(plain), path)
    painted = style(options)
    if options.requires and options.format in ("full", "concise"):
        from ptx_lsp.cli.checking.requirements import report_lines

        write(report_lines(files, painted, options.quiet or options.format == "concise"), options)
        return
    run = plain._replace(style=painted, columns=columns(options))
    if isinstance(reporter := _reporter(options.format), Reporter):
        write(reporter.write(run), options, to_stderr=options.fix and "-" in options.paths)


def _is_binary(name: str) -> bool:
    from ptx_lsp.lint.results.reporter import BinaryReporter

    return isinstance(_reporter(name), BinaryReporter)


def _reporter(name: str) -> AnyReporter:
    from ptx_lsp.lint.results.reporter import find

    found = find(name)
    assert found is not None, name  # _formats has looked
    return found


def _graph(options: Options) -> int:
    from ptx_lsp.cli.collecting import collect, links_out
    from ptx_lsp.cli.graphs.graph import graph
    from ptx_lsp.cli.output import write
    from ptx_lsp.cli.selection import checked_targets

    if options.target is not None:
        (options.target,) = checked_targets([options.target])
    left_out: list[str] = []
    inputs = list(collect(options.paths, options.stdin_filename, left_out.append))
    for note in links_out(left_out):
        complain(note)
    write(graph(inputs, options), options)
    return NOTHING


def _explain(options: Options) -> int:
    from ptx_lsp.cli.explanations.explain import explain, list_rules
    from ptx_lsp.cli.output import style, write

    painted = style(options)
    if options.explain is not None:
        write(explain(options.explain, painted), options)
    else:
        write(list_rules(options.format, painted), options)
    return NOTHING


if __name__ == "__main__":
    sys.exit(main())
