"""The command `ptx-lint`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptx_lsp.cli.arguments import Options, UsageError, parse

if TYPE_CHECKING:
    from ptx_lsp.lint.report import FileReport

# What takes long to import is imported where it is needed: `--version` needs none of it.

NOTHING, FINDINGS, TROUBLE = 0, 1, 2
"""The exit status."""
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status; see docs/ptx-lint.md."""
    try:
        options = parse(argv)
    except SystemExit as done:  # --help, --version or a mistake, told already
        return done.code if isinstance(done.code, int) else TROUBLE
    try:
        return _run(options)
    except UsageError as error:
        _complain(f"error: {error}")
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED
    except Exception as error:
        from ptx_lsp.cli.check import located

        _complain(f"internal error, please report it: {located(error)}")
    return TROUBLE


def _run(options: Options) -> int:
    if options.rules or options.explain is not None:
        return _explain(options)
    if not options.paths:
        raise UsageError("no PATH given: name files or directories, or `-` for standard input")
    from ptx_lsp.cli.inputs import collect
    from ptx_lsp.cli.jobs import check_all
    from ptx_lsp.cli.output import write, write_file
    from ptx_lsp.cli.plan import Plan

    if options.cfg is not None:
        return _graph(options)
    if options.format in ("dot", "svg"):
        raise UsageError(f"--format {options.format} is for --cfg")
    if options.requires:
        if options.targets:
            raise UsageError("--requires tells of one target: give --target, not --targets")
        if options.report is not None:
            raise UsageError("--report is of findings and kernels: not with --requires")
    plan = Plan(options)
    options.fail_on = options.fail_on or plan.here.fail_on or "error"
    inputs = [one for one in collect(options.paths, options.stdin_filename) if plan.wanted(one)]
    works = [(one, plan.settings(one)) for one in inputs]
    for note in plan.notes:
        _complain(note)
    if not inputs:
        _complain("warning: there is no *.ptx file below what was given")
    files = check_all(works, options.jobs, show_progress=not options.quiet)
    _tell_troubles(files)
    if options.report is not None:
        from ptx_lsp.cli.page import page

        write_file(page(files), options.report)
    write(_lines(options, files), options)
    if any(file.error is not None or file.failures for file in files):
        return TROUBLE
    return FINDINGS if not options.exit_zero and _fails(files, options.fail_on or "error") else NOTHING


def _tell_troubles(files: Sequence[FileReport]) -> None:
    for file in files:
        if file.error is not None:
            _complain(f"error: {file.path}: {file.error}")
        for failure in file.failures:
            _complain(f"error: {file.path}: {failure}")
    complaints = [(complaint, file.path) for file in files for complaint in file.complaints]
    for complaint, path in dict(reversed(complaints)).items():
        _complain(f"warning: {path}: {complaint}")


def _lines(options: Options, files: Sequence[FileReport]) -> Iterator[str]:
    """The report in the format asked for, line by line."""
    from ptx_lsp.cli.output import columns, style

    if options.format == "json":
        from ptx_lsp.lint.reporters.json_report import json_report

        yield json_report(files)
        return
    painted = style(options)
    if options.requires:
        from ptx_lsp.cli.requirements import told

        yield from told(files, painted, options.quiet or options.format == "concise")
        return
    if options.format == "full":
        from ptx_lsp.lint.reporters.full import full

        yield from full(files, painted, columns(options), options.quiet)
    else:
        from ptx_lsp.lint.reporters.concise import concise

        yield from concise(files, painted)
    if options.kernels:
        from ptx_lsp.lint.reporters.kernel_table import kernel_table

        yield ""
        yield from kernel_table(files, painted)


def _graph(options: Options) -> int:
    from ptx_lsp.cli.graph import graph
    from ptx_lsp.cli.inputs import collect
    from ptx_lsp.cli.output import write
    from ptx_lsp.cli.selection import checked_targets

    if options.target is not None:
        (options.target,) = checked_targets([options.target])
    write(graph(list(collect(options.paths, options.stdin_filename)), options), options)
    return NOTHING


def _explain(options: Options) -> int:
    from ptx_lsp.cli.explain import explain, list_rules
    from ptx_lsp.cli.output import style, write

    painted = style(options)
    if options.explain is not None:
        write(explain(options.explain, painted), options)
    else:
        write(list_rules(options.format, painted), options)
    return NOTHING


def _fails(files: Sequence[FileReport], level: str) -> bool:
    from ptx_lsp.lint.diagnostic import SEVERITIES

    failing = SEVERITIES[: SEVERITIES.index(level) + 1]
    return any(found.severity in failing for file in files for found in file.diagnostics)


def _complain(text: str) -> None:
    from ptx_lsp.lint.reporters.style import printable

    print(f"ptx-lint: {printable(text)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
