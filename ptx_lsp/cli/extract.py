"""`ptx-lint extract`: writes the PTX in libraries, objects and fat binaries to files, or lists it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from ptx_lsp.cli.arguments import UsageError, complain
from ptx_lsp.cli.collecting import collect, links_out
from ptx_lsp.cli.files import write_whole
from ptx_lsp.cli.inputs import Input, InputError, read, reason
from ptx_lsp.cli.kernel_names import kernel_names
from ptx_lsp.cli.option_parser import Formatter, Parser
from ptx_lsp.cli.output import print_lines
from ptx_lsp.command_parser import CommandParser
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.results.style import printable, width
from ptx_lsp.named_tuple import NamedTuple

WRITTEN, INCOMPLETE = 0, 1
"""The exit statuses: everything was written or listed; something could not be."""

_MOST_NAMES = 3
"""Kernels per line of a list; JSON has all."""
_VERSION = lazy_pattern(rb"^[ \t]*\.version[ \t]+(\d+\.\d+)", re.MULTILINE)


class Options(argparse.Namespace):
    """The parsed command line."""

    containers: list[str]
    output: str
    list: bool
    force: bool
    format: Literal["text", "json"]


def run(words: Sequence[str]) -> int:
    """Writes or lists the members. Returns 0, or 1 if some could not be. Raises UsageError."""
    parser = _parser()
    options = parser.parse_args(parser.checked(words), Options())
    left_out: list[str] = []
    found = collect(options.containers, "stdin", left_out.append, containers=True)
    members = [one for one in found if one.container is not None or not one.was_found]
    for note in links_out(left_out):
        complain(note)
    return _listed(members, options) if options.list else _written(members, options)


def _parser() -> CommandParser:
    parser = Parser(
        prog="ptx-lint extract", description=__doc__, allow_abbrev=False, formatter_class=Formatter
    )
    parser.add_argument(
        "containers", nargs="+", metavar="CONTAINER",
        help="a library, object, archive, executable or fat binary; LIB!3:sm_90, LIB!3 or LIB!sm_90 for a "
        "part of it; a directory with such files; or - for standard input",
    )
    parser.add_argument(
        "--output", "-o", default=".", metavar="DIR",
        help="the directory for the files, which are called LIB.3.sm_90.ptx; it is created (default: the "
        "current directory)",
    )
    parser.add_argument("--list", "-l", action="store_true", help="list the PTX, and write nothing")
    parser.add_argument(
        "--force", "-f", action="store_true", help="overwrite existing files with other contents"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text",
        help="the format of --list: text (default) or json",
    )
    return parser


class _Text(NamedTuple):
    """A member and its text."""

    member: Input
    data: bytes


class _Reading:
    """Reads members one by one, and reports those that cannot be read."""

    def __init__(self, members: Sequence[Input]) -> None:
        self._members = members
        self.status = WRITTEN

    def texts(self) -> Iterator[_Text]:
        for one in self._members:
            try:
                if one.error is None and one.container is None:
                    raise InputError("is not a container")
                yield _Text(one, read(one))
            except InputError as error:
                self.refuse(f"{one.path}: {error}")

    def refuse(self, reason: str) -> None:
        self.status = INCOMPLETE
        complain(f"error: {reason}")


def _written(members: Sequence[Input], options: Options) -> int:
    """Writes the members, and prints the paths of their files."""
    reading = _Reading(members)
    folder = Path(options.output)
    sources: dict[str, str] = {}
    for one, data in reading.texts():
        place = folder / _file_name(one)
        path = printable(str(place))
        if place.name in sources:
            reading.refuse(f"{one.path}: `{path}` already has the PTX of {sources[place.name]}")
            continue
        sources[place.name] = one.path
        _make(folder)
        try:
            if not _has(place, data):
                if os.path.lexists(place) and not options.force:
                    reading.refuse(f"{one.path}: `{path}` exists with other contents; --force overwrites it")
                    continue
                write_whole(place, data)
        except OSError as error:
            reading.refuse(f"{one.path}: cannot write `{path}`: {reason(error)}")
            continue
        print_lines([path])
    return reading.status


def _make(folder: Path) -> None:
    """Makes a folder if there is none. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "not a directory" if isinstance(error, FileExistsError) else reason(error)
        raise UsageError(f"cannot write to `{folder}`: {why}") from error


def _file_name(one: Input) -> str:
    """As cuobjdump calls it: `libfoo.3.sm_90.ptx`."""
    return f"{Path(one.file).stem}.{(one.member or '').replace(':', '.')}.ptx"


def _has(place: Path, data: bytes) -> bool:
    """Whether a file, and not a link to one, has these contents."""
    if place.is_symlink() or not place.is_file() or place.stat().st_size != len(data):
        return False
    return place.read_bytes() == data


class _Row(NamedTuple):
    """A line of the list."""

    member: Input
    version: str
    size: int
    kernels: list[str]


def _listed(members: Sequence[Input], options: Options) -> int:
    reading = _Reading(members)
    rows = (_row(*text) for text in reading.texts())
    print_lines(_json(rows) if options.format == "json" else _table(rows))
    return reading.status


def _row(one: Input, data: bytes) -> _Row:
    version = _VERSION.search(data)
    return _Row(one, version[1].decode() if version else "", len(data), kernel_names(data))


def _table(rows: Iterator[_Row]) -> Iterator[str]:
    """One table for each container."""
    before: str | None = None
    lines: list[tuple[str, ...]] = []
    for row in rows:
        if row.member.file != before and lines:
            yield from _aligned(before or "", lines)
            lines = []
        before = row.member.file
        version = row.version or "?"
        kernels = str(len(row.kernels))
        lines.append((row.member.member or "", version, str(row.size), kernels, _shortened(row.kernels)))
    if lines:
        yield from _aligned(before or "", lines)


def _shortened(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _aligned(container: str, lines: list[tuple[str, ...]]) -> Iterator[str]:
    yield printable(container)
    cells = [("member", "PTX", "bytes", "kernels", ""), *lines]
    sizes = [max(map(width, column)) for column in zip(*cells, strict=True)]
    for name, version, size, count, names in cells:
        line = f"  {name:{sizes[0]}}  {version:>{sizes[1]}}  {size:>{sizes[2]}}  {count:>{sizes[3]}}  {names}"
        yield line.rstrip()


def _json(rows: Iterator[_Row]) -> Iterator[str]:
    from ptx_lsp.lint.reporters.json import dumps

    yield dumps({"members": [
        {
            "path": row.member.path, "container": row.member.file, "member": row.member.member,
            "target": (row.member.member or "").partition(":")[2] or None,
            "ptx_version": row.version or None, "size": row.size, "kernels": row.kernels,
        }
        for row in rows
    ]})
