"""The command `ptx-lint`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptx_lsp.cli.arguments import Options, UsageError, parse

if TYPE_CHECKING:
    from pathlib import Path

    from ptx_lsp.cli.check import Settings
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

    if options.cfg is not None:
        return _graph(options)
    if options.format in ("dot", "svg"):
        raise UsageError(f"--format {options.format} is for --cfg")
    settings = _settings(options)
    if options.requires:
        if options.targets:
            raise UsageError("--requires tells of one target: give --target, not --targets")
        if options.report is not None:
            raise UsageError("--report is of findings and kernels: not with --requires")
        settings = settings._replace(rules=frozenset(), ptxas=None, requires=True, kernels=False)
    inputs = list(collect(options.paths, options.stdin_filename))
    if not inputs:
        _complain("warning: there is no *.ptx file below what was given")
    files = check_all(inputs, settings, options.jobs, show_progress=not options.quiet)
    _tell_troubles(files)
    if options.report is not None:
        from ptx_lsp.cli.page import page

        write_file(page(files), options.report)
    write(_lines(options, files), options)
    if any(file.error is not None or file.failures for file in files):
        return TROUBLE
    return FINDINGS if not options.exit_zero and _fails(files, options.fail_on) else NOTHING


def _settings(options: Options) -> Settings:
    from ptx_lsp.cli.assembler import RULE
    from ptx_lsp.cli.check import Settings
    from ptx_lsp.cli.selection import checked_targets, selected
    from ptx_lsp.lint.rule import all_rules

    names = selected(all_rules(), options.select, options.ignore)
    targets = checked_targets([options.target] if options.target is not None else options.targets)
    return Settings(
        names, targets, _ptxas(options), RULE in names,
        kernels=options.kernels or options.format == "json" or options.report is not None,
        details=options.report is not None,
        threads=options.threads,
    )


def _ptxas(options: Options) -> Path | None:
    """The program that --ptxas asks for; where there is none at all, one line says so."""
    if options.ptxas is None:
        return None
    from pathlib import Path

    from ptx_lsp import ptxas

    try:
        program = ptxas.find(Path(options.ptxas) if options.ptxas else None)
        if program is not None:
            ptxas.version(program)
            return program
    except ptxas.PtxasError as error:
        raise UsageError(f"--ptxas: {error}") from error
    _complain(
        "warning: no ptxas was found on PATH, in CUDA_HOME or CUDA_PATH, or from the package "
        "nvidia-cuda-nvcc: going on without it"
    )
    return None


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
