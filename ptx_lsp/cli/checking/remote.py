"""Checks files on other machines, which may see neither the files nor the same programs."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.cli.checking.check import check
from ptx_lsp.cli.checking.task import Task
from ptx_lsp.cli.inputs import InputError, read
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.parallel.jobs import JobsError


def for_another_machine(task: Task) -> Task:
    """The task with the content of the file."""
    one, program = task.one, task.settings.ptxas
    if one.error is None:
        try:
            one = one._replace(data=read(one), payload=None)
        except InputError as error:
            one = one._replace(error=str(error))
    return Task(one, task.settings, ptxas=_version(program) if program is not None else None)


def check_there(task: Task) -> FileReport:
    """The report, from a worker on any machine. Raises JobsError."""
    settings = task.settings
    if settings.ptxas is not None and task.ptxas is not None:
        settings = settings._replace(ptxas=_own_ptxas(settings.ptxas, task.ptxas))
    return check(task.one, settings)


@cache
def _own_ptxas(elsewhere: Path, version: str) -> Path:
    """The program here for the one elsewhere."""
    where = f"the worker on {platform.node()}"
    program = elsewhere if elsewhere.is_file() else ptxas.find()
    if program is None:
        raise JobsError(f"{where} has no ptxas; it needs ptxas {version}, as here")
    try:
        own = _version(program)
    except ptxas.PtxasError as error:
        raise JobsError(f"{where}: {error}") from error
    if own != version:
        raise JobsError(f"{where} has ptxas {own}; it needs {version}, as here")
    return program


@cache
def _version(program: Path) -> str:
    return ptxas.version(program)
