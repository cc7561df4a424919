"""How a reporter is written and found: one file in `reporters/`, one function under `@reporter`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.style import Style


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


_PACKAGE = "ptx_lsp.lint.reporters"
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
def find(name: str) -> Reporter | None:
    """The format of this name. It is in the file of this name: nothing else is imported."""
    try:
        module = importlib.import_module(f"{_PACKAGE}.{name.replace('-', '_')}")
    except ImportError:
        return None
    found = [one for one in vars(module).values() if isinstance(one, Reporter) and one.name == name]
    return found[0] if found else None


@cache
def reporters() -> dict[str, Reporter]:
    """Every format by its name. Nothing lists them."""
    package = importlib.import_module(_PACKAGE)
    names = [module.name.replace("_", "-") for module in pkgutil.iter_modules(package.__path__)]
    return {name: one for name in sorted(names) if (one := find(name)) is not None}
