"""The options of `ptx-reduce`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ptx_lsp import __version__
from ptx_lsp.command_parser import CommandParser
from ptx_lsp.parallel.jobs import JobsError, cores, parse_jobs

_EPILOG = """\
conditions:
  The path of a candidate replaces `{}` in COMMAND, or is appended. The command runs in the current folder; a
  candidate is interesting if it ends with status 0.

examples:
  ptx-reduce kernel.ptx --crash --ptxas-options='-arch=sm_90 -O1'
  ptx-reduce kernel.ptx --finding uninitialised-register
  ptx-reduce kernel.ptx --if 'ptx-run {} --arg u32[]:arange:64 --out 0 | grep -q " 7,"'
  ptx-reduce kernel.ptx --if ./is-slow.sh --timeout 60 --jobs 8

exit status:
  0  the reduction is finished
  1  the condition does not hold for FILE, or for the result when it is tested again, or the reduction was
     interrupted
  2  usage error, an invalid or unreadable file, or a command that cannot be run
"""


class Options(argparse.Namespace):
    """The options on the command line; None if absent."""

    file: str
    command: str | None
    crash: bool
    message: str | None
    finding: str | None
    ptxas: str | None
    ptxas_options: str
    output: str | None
    in_place: bool
    state: str | None
    timeout: float | None
    jobs: int | str
    invalid: bool
    quiet: bool


def parse(argv: Sequence[str] | None) -> Options:
    """The options of a command line. Raises SystemExit as argparse does: 0 after --help, else 2."""
    known = parser()
    words = sys.argv[1:] if argv is None else argv
    return known.parse_args(known.checked(words), namespace=Options())


def parser() -> CommandParser:
    """Every option of `ptx-reduce`."""
    parser = CommandParser(
        prog="ptx-reduce",
        epilog=_EPILOG,
        allow_abbrev=False,
        description="Reduces a PTX file to the smallest one for which a condition still holds.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ptx-reduce {__version__}")
    parser.add_argument("file", metavar="FILE", help="a PTX file, or CONTAINER!MEMBER")
    _add_conditions(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="write the result to FILE (default: beside the file, `NAME.reduced.ptx`)",
    )
    group.add_argument("--in-place", action="store_true", help="replace FILE by the result")
    group.add_argument(
        "--state",
        metavar="DIR",
        help="keep the verdicts in DIR, from which an interrupted reduction goes on (default: beside the "
        "output, until the reduction is finished)",
    )
    group.add_argument("--quiet", "-q", action="store_true", help="omit the progress line")
    group = parser.add_argument_group("candidates")
    group.add_argument(
        "--invalid", action="store_true", help="also try PTX that ptx-lint or ptxas rejects"
    )
    group.add_argument(
        "--timeout",
        type=_seconds,
        metavar="S",
        help="a candidate that takes longer is not interesting (default: 10 times the first run)",
    )
    group.add_argument(
        "--jobs",
        "-j",
        type=_jobs,
        default=cores(),
        metavar="N",
        help="test N candidates at the same time, or as many as a Dask cluster has workers "
        "(dask://HOST:PORT); the result does not depend on it (default: one per core)",
    )
    return parser


def _add_conditions(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("condition (one is required)")
    one = group.add_mutually_exclusive_group(required=True)
    one.add_argument(
        "--if", dest="command", metavar="COMMAND", help="a command of the shell succeeds"
    )
    one.add_argument(
        "--crash", action="store_true", help="ptxas crashes, in the same way as for FILE"
    )
    one.add_argument("--message", metavar="TEXT", help="ptxas prints TEXT")
    one.add_argument(
        "--finding", metavar="RULE", help="ptx-lint has a finding of RULE, a name or code"
    )
    group.add_argument("--ptxas", metavar="PATH", help="the ptxas to use, also to judge candidates")
    group.add_argument(
        "--ptxas-options",
        default="",
        metavar="OPTIONS",
        help="options for --crash and --message, such as '-arch=sm_90 -O1' (default: the target of FILE)",
    )


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not a duration")
    return number


def _jobs(text: str) -> int | str:
    try:
        return parse_jobs(text)
    except JobsError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
