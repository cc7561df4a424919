"""`ptx-lint` from Python."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Executor

from ptx_lsp.cli.checking.jobs import check_all
from ptx_lsp.cli.collecting import collect
from ptx_lsp.cli.command_line import parse
from ptx_lsp.cli.plan import Plan
from ptx_lsp.lint.results.report import FileReport

__all__ = ["FileReport", "lint_files"]


def lint_files(
    paths: Iterable[str | os.PathLike[str]], options: Sequence[str] = (), *, executor: Executor | None = None
) -> Generator[FileReport]:
    """The reports on files, directories and containers, in order, each as soon as all before it are there.

    `options` are those of the command that say what is checked, such as `("--kernels", "--target",
    "sm_90a")`. `executor` runs the work on any machine with the same version of ptx-lsp; without one,
    `--jobs` counts. Nothing is written but the cache. Raises UsageError, and SystemExit for an option that
    does not exist.
    """
    given = parse([*options, "--", *(os.fspath(path) for path in paths)])
    given.fix = given.unsafe_fixes = False
    plan = Plan(given)
    found = collect(given.paths, given.stdin_filename, containers=plan.containers)
    works = [(one, plan.settings(one)) for one in found if plan.wanted(one)]
    return check_all(works, executor if executor is not None else given.jobs, False, plan.cache())
