"""Defines and finds reporters: one file in `reporters/`, one function under `@reporter`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterator
from functools import cache

from ptx_lsp.lint.diagnostic import Severity
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.style import Style
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.packages import module_names
from ptx_lsp.static_typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from typing import BinaryIO, TypeAlias


class Run(NamedTuple):
    """The results of one run."""

    files: Collection[FileReport]
    """In order. Only a format that goes through them once gets them as they are made."""
    remarks: tuple[str, ...] = ()
    """Remarks on the run as a whole, such as the number of findings hidden by a baseline; for people."""
    style: Style = Style()
    columns: int = 120
    """The maximum width of source lines."""
    quiet: bool = False
    """Whether source lines are left out."""
    kernels: bool = False
    """Whether the table of kernels is included."""
    least: Severity = "hint"
    """The lowest severity of findings in reports for people; reports for programs have all."""


_PACKAGE = "ptx_lsp.lint.reporters"
Write: TypeAlias = Callable[[Run], Iterator[str]]


class Reporter(NamedTuple):
    """A format of `--format`. `write` returns lines without line ends."""

    name: str
    summary: str
    write: Write
    has_kernels: bool = False
    """Whether it reports kernel metrics, so that they must be computed."""
    is_once: bool = False
    """Whether it goes through the files once, so that lines come while files are checked."""


class ReportStream(Protocol):
    """A report that is written while files are checked."""

    def add(self, file: FileReport) -> None:
        """Writes the report on one file, now or later."""

    def close(self) -> None:
        """Writes what is left. Without it, the report is not complete."""


Open: TypeAlias = "Callable[[BinaryIO], ReportStream]"


class BinaryReporter(NamedTuple):
    """A format of `--format` that is not text and has kernel metrics. `open` begins a report in a file, which
    is written from its start to its end.
    """

    name: str
    summary: str
    open: Open
    package: str
    """The package that it needs."""
    extra: str
    """The extra of ptx-lsp that installs the package."""
    has_kernels: bool = True


def reporter(
    name: str, summary: str, has_kernels: bool = False, is_once: bool = False
) -> Callable[[Write], Reporter]:
    """Registers the decorated function as a format."""

    def decorate(write: Write) -> Reporter:
        return Reporter(name, summary, write, has_kernels, is_once)

    return decorate


def binary_reporter(
    name: str, summary: str, package: str, extra: str
) -> Callable[[Open], BinaryReporter]:
    """Registers the decorated function as a format that is not text."""

    def decorate(open_: Open) -> BinaryReporter:
        return BinaryReporter(name, summary, open_, package, extra)

    return decorate


AnyReporter: TypeAlias = Reporter | BinaryReporter


@cache
def find(name: str) -> AnyReporter | None:
    """The format of this name, from the file of this name: nothing else is imported."""
    try:
        module = importlib.import_module(f"{_PACKAGE}.{name.replace('-', '_')}")
    except ImportError:
        return None
    kinds = Reporter, BinaryReporter
    found = [one for one in vars(module).values() if isinstance(one, kinds) and one.name == name]
    return found[0] if found else None


@cache
def reporters() -> dict[str, AnyReporter]:
    """Every format by its name. They are discovered, not listed."""
    package = importlib.import_module(_PACKAGE)
    names = [name.replace("_", "-") for name in module_names(package.__path__)]
    return {name: one for name in sorted(names) if (one := find(name)) is not None}
