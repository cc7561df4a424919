"""The parser of the options of `ptx-lint`. Their defaults are those of `Options`."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ptx_lsp import __version__
from ptx_lsp.cli.arguments import Options
from ptx_lsp.command_parser import CommandParser

if TYPE_CHECKING:
    from ptx_lsp.model.launch_blocks import LaunchBlock
    from ptx_lsp.parallel.jobs import Jobs

_EPILOG = """\
examples:
  ptx-lint kernel.ptx                     lint one file
  ptx-lint build/                         lint every *.ptx below a directory
  nvcc -ptx k.cu -o - | ptx-lint -        lint standard input
  ptx-lint --targets sm_80,sm_90a k.ptx   what prevents the file from targeting each of these?
  ptx-lint --ptxas --kernels k.ptx        ask ptxas as well; print what kernels use
  ptx-lint --requires k.ptx               the minimum .version and target, and why
  ptx-lint --report k.html k.ptx          an HTML report on kernels and findings
  ptx-lint --cfg saxpy -o saxpy.svg k.ptx the control flow graph of a kernel
  ptx-lint libfoo.so                      lint the PTX in a library or fat binary
  ptx-lint 'libfoo.so!3:sm_90'            lint one member of it
  ptx-lint --explain mul.wide.u32         explain an instruction, modifier, directive or rule

subcommands, unless a file of that name exists:
  ptx-lint config check|show|schema       validate or show the configuration; print its JSON schema
  ptx-lint compare OLD NEW                compare kernels: registers, occupancy, instructions, findings
  ptx-lint extract LIB -o DIR             write the PTX in a library or fat binary to files; --list lists it
  ptx-lint blame [LOG]                    messages of ptxas in the log of a build, at the source
  ptx-lint completion bash|zsh|fish       print a shell completion script
  ptx-lint man                            the manual page

exit status:
  0  no findings at or above the --fail-on severity
  1  findings at or above it
  2  usage error, unreadable input, or internal error
"""


def parsed(argv: Sequence[str]) -> Options:
    """The options of a command line. Raises SystemExit: 0 after --help, else 2."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    # The value requires `=`; otherwise argparse would take the first PATH for it.
    before = [f"{word}=" if word == "--ptxas" else word for word in words[:end]]
    known = parser()
    options = known.parse_intermixed_args(known.checked(before), Options())
    options.paths.extend(words[end + 1 :])
    return options


class Parser(CommandParser):
    """The parser of `ptx-lint` and its subcommands."""

    is_complete = False
    """Whether all options have been added. argparse asks for a formatter with each, and the width of the
    terminal is slow to find out.
    """

    def _get_formatter(self) -> argparse.HelpFormatter:
        return super()._get_formatter() if self.is_complete else Formatter(self.prog, width=80)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the formatting of the examples."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return super()._format_action_invocation(action).replace("--ptxas PATH", "--ptxas[=PATH]")


def parser() -> CommandParser:
    """Every option of `ptx-lint`."""
    parser = Parser(
        prog="ptx-lint",
        usage="ptx-lint [OPTIONS] PATH ...",
        description="Finds mistakes in NVIDIA PTX without a GPU.",
        epilog=_EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH",
        help="a file, a directory (every *.ptx below it), or - for standard input; a library or fat binary "
        "stands for its PTX, and LIB!3:sm_90, LIB!3 or LIB!sm_90 for a part of it",
    )
    parser.add_argument("--version", action="version", version=f"ptx-lint {__version__}")
    _add_judgement(parser)
    _add_changes(parser)
    _add_output(parser)
    _add_help(parser)
    parser.is_complete = True
    return parser


def _add_judgement(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is checked")
    group.add_argument(
        "--select", action="extend", type=_rules, metavar="RULES",
        help="run only these rules: names, codes, code prefixes (E1) or ALL, separated by commas",
    )
    group.add_argument(
        "--extend-select", action="extend", type=_names, metavar="RULES",
        help="also run these rules, such as hints",
    )
    group.add_argument(
        "--ignore", action="extend", type=_names, metavar="RULES",
        help="skip these rules, even if selected",
    )
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--target", metavar="T", help="check for target T (such as sm_90a) instead of the file's `.target`"
    )
    either.add_argument(
        "--targets", action="extend", type=_targets, metavar="A,B",
        help="check against each of these targets; a finding names the targets it applies to",
    )
    group.add_argument(
        "--ptxas", metavar="PATH",
        help="also run ptxas (or the one at PATH) and use its measurements",
    )
    group.add_argument(
        "--fail-on", choices=("error", "warning", "info"),
        help="exit with 1 if a finding has at least this severity (default: error)",
    )
    group.add_argument(
        "--min-severity", choices=("error", "warning", "info", "hint"),
        help="the lowest severity in full, concise, markdown, github and --report, which people read "
        "(default: warning, or hint if rules are selected)",
    )
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 even if there are findings")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--config", metavar="FILE",
        help="use this configuration instead of the nearest ptx-lint.toml or pyproject.toml",
    )
    either.add_argument("--no-config", action="store_true", help="ignore all configuration files")
    group.add_argument(
        "--force-exclude", action="store_true",
        help="skip excluded files even if they are named on the command line",
    )
    group.add_argument(
        "--containers", action="store_true",
        help="in directories, also check the PTX in libraries, objects, archives and executables",
    )
    group.add_argument(
        "--show-files", action="store_true", help="list the files that would be linted, and exit"
    )
    group.add_argument(
        "--stdin-filename", metavar="NAME",
        help="the name of standard input in the report",
    )
    group.add_argument(
        "--cache-dir", metavar="DIR", help="the cache directory (default: in the user's cache directory)"
    )
    group.add_argument("--no-cache", action="store_true", help="do not read or write the cache")
    group.add_argument(
        "--watch", action="store_true", help="rerun whenever a file changes, until Ctrl-C"
    )
    group.add_argument(
        "--jobs", "-j", type=jobs, metavar="N",
        help="number of parallel processes (default: one per core, or 1 for small inputs), or "
        "dask://HOST:PORT for the workers of a Dask cluster",
    )


def _add_changes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fixes, suppressions and baselines")
    group.add_argument("--fix", action="store_true", help="apply safe fixes")
    group.add_argument(
        "--unsafe-fixes", action="store_true", help="also apply unsafe fixes; implies --fix"
    )
    group.add_argument(
        "--diff", action="store_true",
        help="show the fixes as a diff without applying them",
    )
    group.add_argument(
        "--add-ignore", action="store_true", help="add a `ptx-lint: ignore` comment for each finding"
    )
    group.add_argument(
        "--baseline", metavar="FILE", help="hide the findings recorded in FILE and report improvements"
    )
    group.add_argument("--no-baseline", action="store_true", help="do not use a baseline")
    group.add_argument(
        "--update-baseline", action="store_true", help="record the current findings in the baseline"
    )
    group.add_argument("--reason", metavar="TEXT", help="the reason to record for new baseline entries")
    group.add_argument(
        "--ratchet", action="store_true", help="also fail if the baseline has findings that no longer occur"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", "--output-format", action="append", dest="formats", metavar="X[=FILE]",
        help="full (default), concise, json, json-lines, sarif, github, gitlab, junit, rdjson, markdown, "
        "parquet, statistics; dot or svg with --cfg; X=FILE writes to FILE, in addition to the printed "
        "report",
    )
    group.add_argument(
        "--statistics", action="store_true", help="count findings per rule; same as --format statistics"
    )
    group.add_argument("--kernels", action="store_true", help="print a table of kernel metrics")
    group.add_argument(
        "--threads", type=_block_size, metavar="N|XxY[xZ]",
        help="threads per block, for the occupancy and the memory accesses of kernels whose directives do "
        "not set it",
    )
    group.add_argument(
        "--maxrregcount", type=_register_count, metavar="N",
        help="maximum registers per thread, as in ptxas and nvcc; applies to estimates and to --ptxas; "
        ".maxnreg and block sizes override it",
    )
    group.add_argument(
        "--dynamic-shared", type=_byte_count, metavar="N",
        help="dynamic shared memory per block in bytes, for kernels whose launch comment does not give it",
    )
    group.add_argument(
        "--requires", action="store_true",
        help="print the minimum .version and target of each file, and what requires them, and exit",
    )
    group.add_argument(
        "--cfg", metavar="KERNEL",
        help="print the control flow graph of a kernel or function as DOT, or as SVG with --format svg or "
        "-o NAME.svg, and exit",
    )
    group.add_argument(
        "--report", metavar="FILE.html",
        help="also write an HTML report: metrics, occupancy curves, register pressure and control flow of "
        "each kernel, and the findings",
    )
    group.add_argument("--output", "-o", metavar="FILE", help="write the report to FILE")
    group.add_argument(
        "--color", choices=("auto", "always", "never"),
        help="auto (default): in a terminal unless NO_COLOR is set",
    )
    group.add_argument(
        "--quiet", "-q", action="store_true", help="omit source lines and the progress bar"
    )


def _add_help(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("reference")
    group.add_argument(
        "--explain", metavar="NAME",
        help="explain a rule, a kind of finding of ptx-run, an instruction with or without modifiers, a "
        "modifier, a type, a state space, a directive or a special register",
    )
    group.add_argument("--rules", action="store_true", help="list the rules")


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[,\s]+", text) if name]


def _rules(text: str) -> list[str]:
    """Rejects an empty list: without rules, all would run."""
    if not (names := _names(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a rule: use names (undeclared-name), codes (E101), code prefixes "
            "(E1) or ALL"
        )
    return names


def _targets(text: str) -> list[str]:
    """Rejects an empty list: without targets, the file's own would be used."""
    if not (names := _names(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a target; targets have names such as sm_90")
    return names


def jobs(text: str) -> Jobs:
    """The value of `--jobs`."""
    from ptx_lsp.parallel.jobs import JobsError, parse_jobs

    try:
        return parse_jobs(text)
    except JobsError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return number


def _register_count(text: str) -> int:
    number = _positive(text)
    if number > 255:
        raise argparse.ArgumentTypeError(f"{number} exceeds the maximum of 255 registers per thread")
    return number


def _byte_count(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number <= 1 << 20:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes from 0 to {1 << 20}")
    return number


def _block_size(text: str) -> LaunchBlock:
    from ptx_lsp.isa.device_limits import MAX_THREADS_PER_BLOCK

    sizes = [_positive(part) for part in re.split("[x,]", text)]
    if len(sizes) > 3:
        raise argparse.ArgumentTypeError(f"{text!r}: a block has at most three dimensions")
    if (number := math.prod(sizes)) > MAX_THREADS_PER_BLOCK:
        raise argparse.ArgumentTypeError(
            f"{number} exceeds the maximum of {MAX_THREADS_PER_BLOCK} threads per block"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
