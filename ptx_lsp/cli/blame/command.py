"""`ptx-lint blame [LOG]`: locates the messages of ptxas in the log of a build in the source."""

from __future__ import annotations

import argparse
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import BinaryIO, Final

from ptx_lsp.cli.arguments import UsageError
from ptx_lsp.cli.blame import output
from ptx_lsp.cli.blame.located import Located
from ptx_lsp.cli.blame.log import Log
from ptx_lsp.cli.blame.message import Message
from ptx_lsp.cli.blame.message_locator import MessageLocator
from ptx_lsp.cli.collecting import collect
from ptx_lsp.cli.command_line import parse
from ptx_lsp.cli.inputs import STDIN, Input
from ptx_lsp.cli.option_parser import Formatter, Parser
from ptx_lsp.cli.output import columns, keep_apart, print_at_once, style, write
from ptx_lsp.command_parser import CommandParser
from ptx_lsp.lint.reporters.json import dumps

_PATIENCE: Final = 24
"""The lines of a stream after a message in which the PTX may still come, as Triton prints it."""
_LONGEST_LINE: Final = 16 << 20

_EPILOG = """\
examples:
  make 2>&1 | ptx-lint blame --passthrough     a filter for a build
  ptx-lint blame build.log --ptx build/        the PTX was kept with `nvcc -keep`
  ptx-lint blame triton.log                    Triton prints the PTX itself

exit status:
  0  the log has no error of ptxas
  1  it has one
  2  usage error, or the log cannot be read
"""


class Options(argparse.Namespace):
    """The parsed command line."""

    log: str
    ptx: list[str]
    source: list[str]
    format: output.Format
    output: str | None
    passthrough: bool
    kernels: bool
    color: str


def run(words: Sequence[str]) -> int:
    """Reports the messages of a log. Returns 1 if there is an error among them, else 0. Raises UsageError."""
    parser = _parser()
    options = parser.parse_args(parser.checked(words), Options())
    if options.passthrough and options.format == "json":
        raise UsageError("--passthrough does not go with --format json")
    if options.passthrough and options.output is not None:
        raise UsageError("--passthrough does not go with --output")
    return _Blame(options).run()


def _parser() -> CommandParser:
    parser = Parser(
        prog="ptx-lint blame", description=__doc__, epilog=_EPILOG, allow_abbrev=False,
        formatter_class=Formatter,
    )
    parser.add_argument(
        "log", metavar="LOG", nargs="?", default=STDIN,
        help="what the build printed; standard input by default",
    )
    parser.add_argument(
        "--ptx", metavar="PATH", action="append", default=[],
        help="the PTX: a file, a directory or a container; the text that fits a message is used (repeatable)",
    )
    parser.add_argument(
        "--source", metavar="PATH", action="append", default=[],
        help="a source file or directory with inline PTX, if `.loc` does not lead to it (repeatable)",
    )
    parser.add_argument(
        "--format", choices=("full", "json", "github"), default="full",
        help="full (default), json, or github for annotations",
    )
    parser.add_argument("--output", "-o", metavar="FILE", help="write the report to FILE")
    parser.add_argument(
        "--passthrough", action="store_true",
        help="also print all other lines of the log, as they arrive",
    )
    parser.add_argument(
        "--kernels", action="store_true", help="also list the resources that `ptxas -v` printed"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour")
    return parser


class _Blame:
    """One run of the command."""

    def __init__(self, options: Options) -> None:
        self._options = options
        words = ["-", "--color", options.color]
        self._whole = parse(words if options.output is None else [*words, "--output", options.output])
        self._style, self._columns = style(self._whole), columns(self._whole)
        self._log = Log()
        inputs = _inputs([*options.ptx, *options.source])
        keep_apart([options.output], [options.log, *(one.file for one in inputs)])
        self._locator = MessageLocator(inputs, self._log)
        self._located: list[Located] = []
        self._keys: set[tuple[object, ...]] = set()
        self._repeats = Counter[tuple[object, ...]]()
        self._waiting: list[Message] = []

    def run(self) -> int:
        if self._options.output is not None:
            write((line for line in self._lines() if isinstance(line, str)), self._whole)
        else:
            print_at_once(self._lines())
        errors = output.count(self._located)["error"]
        return int(bool(errors) or self._log.aborted)

    def _lines(self) -> Iterator[str | bytes]:
        is_stream = self._scout()
        with _opened(self._options.log) as stream:
            while raw := _line(stream):
                read = self._log.feed(raw)
                if self._options.passthrough and not read.messages:
                    yield raw
                for message in read.messages:
                    if is_stream and self._may_follow(message):
                        self._waiting.append(message)
                    else:
                        yield from self._locate(message)
                if self._is_late():
                    yield from self._locate_waiting()
        self._log.end()
        yield from self._locate_waiting()
        yield from self._end()

    def _scout(self) -> bool:
        """Reads a log that can be read twice for the PTX and the files that it names; whether it cannot."""
        path = self._options.log
        if path == STDIN or not _is_regular(path):
            return True
        scout = Log()
        with _opened(path) as stream:
            while raw := _line(stream):
                scout.feed(raw)
        scout.end()
        self._log.learn(scout)
        return False

    def _may_follow(self, message: Message) -> bool:
        """Whether the PTX of a message may still be printed."""
        return "tmpxft_" not in message.path and not self._locator.has_ptx(message)

    def _is_late(self) -> bool:
        """Whether the PTX of the messages that wait for it is not printed soon enough."""
        if not self._waiting or self._log.is_printing:
            return False
        return self._log.lines - self._waiting[-1].log_line >= _PATIENCE

    def _locate_waiting(self) -> Iterator[str]:
        waiting = self._waiting
        self._waiting = []
        for message in waiting:
            yield from self._locate(message)

    def _locate(self, message: Message) -> Iterator[str]:
        located = self._locator.locate(message)
        if located.key in self._keys:
            self._repeats[located.key] += 1
            return
        self._keys.add(located.key)
        self._located.append(located)
        match self._options.format:
            case "full":
                yield from output.text(located, self._style, self._columns)
                yield ""
            case "github":
                yield output.github(located)
            case "json":
                pass

    def _end(self) -> Iterator[str]:
        wanted = self._options.kernels or self._options.format == "json"
        figures = output.kernels(self._log.figures) if wanted else []
        match self._options.format:
            case "json":
                yield dumps(output.whole(self._located, self._repeats, figures))
            case "full":
                yield from output.table(figures)
                yield output.summary(output.count(self._located), self._repeats.total(), self._style)
            case "github":
                pass


def _inputs(paths: Iterable[str]) -> list[Input]:
    """The files at the paths of options. Raises UsageError if one is not there."""
    found = list(collect(paths, STDIN))
    for one in found:
        if one.was_found or one.path not in paths:
            continue
        error = one.error or (None if one.container or Path(one.path).is_file() else "is not a regular file")
        if error is not None:
            raise UsageError(f"`{one.path}`: {error}")
    return found


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    """The log. Raises UsageError if it cannot be read."""
    if path == STDIN:
        if not sys.stdin:  # the interpreter has None where it was closed
            raise UsageError("standard input is closed")
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise UsageError(f"cannot read `{path}`: {error.strerror}") from error


def _line(stream: BinaryIO) -> bytes:
    """The next line; empty at the end. Raises UsageError."""
    try:
        return stream.readline(_LONGEST_LINE)
    except OSError as error:
        raise UsageError(f"cannot read the log: {error.strerror}") from error


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(Path(path).stat().st_mode)
    except OSError:
        return False
