"""How a reporter is written and found: one file in `reporters/`, one function under `@reporter`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from ptx_lsp.lint.report import FileReport
from ptx_lsp.lint.reporters.style import Style


class Run(NamedTuple):
    """What there is to tell of one run."""

    files: Sequence[FileReport]
    remarks: tuple[str, ...] = ()
    """Of the run as a whole, such as what a baseline has hidden; for people."""
    style: Style = Style()
    columns: int = 120
    """How wide source lines may become."""
    quiet: bool = False
    """Without source lines."""
    kernels: bool = False
    """With the table of kernels."""


Write: TypeAlias = Callable[[Run], Iterator[str]]


class Reporter(NamedTuple):
    """A format of `--format`. `write` gives lines without line ends."""

    name: str
    summary: str
    write: Write
    has_kernels: bool = False
    """Whether it tells the figures of kernels, so that they must be computed."""


def reporter(
    name: str, summary: str, has_kernels: bool = False
) -> Callable[[Write], Reporter]:
    """Makes the decorated function a format."""

    def decorate(write: Write) -> Reporter:
        return Reporter(name, summary, write, has_kernels)

    return decorate


@cache
def reporters() -> dict[str, Reporter]:
    """Every format by its name. Nothing lists them."""
    from ptx_lsp.lint import reporters as package

    found = [
        value
        for module in pkgutil.iter_modules(package.__path__)
        for value in vars(importlib.import_module(f"{package.__name__}.{module.name}")).values()
        if isinstance(value, Reporter)
    ]
    return {one.name: one for one in sorted(found, key=lambda one: one.name)}
