"""The options of `ptx-lint`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Literal, NoReturn

from ptx_lsp import __version__

STANDARD_INPUT_NAME = "<stdin>"

_EPILOG = """\
examples:
  ptx-lint kernel.ptx                     lint one file
  ptx-lint build/                         lint every *.ptx below a directory
  nvcc -ptx k.cu -o - | ptx-lint -        lint standard input
  ptx-lint --targets sm_80,sm_90a k.ptx   what stands in the way on each target?
  ptx-lint --ptxas --kernels k.ptx        ask ptxas as well; print what kernels use
  ptx-lint --requires k.ptx               the least .version and target, and why
  ptx-lint --report k.html k.ptx          a page on the kernels and the findings
  ptx-lint --cfg saxpy -o saxpy.svg k.ptx the control flow graph of a kernel
  ptx-lint --explain mul.wide.u32         what an instruction, modifier, directive or rule means

commands of their own, unless a file has that name:
  ptx-lint config check|show|schema       the configuration: is it right, what holds, its JSON schema
  ptx-lint compare OLD NEW                kernels side by side: registers, occupancy, instructions, findings
  ptx-lint completion bash|zsh|fish       a script with which a shell completes the command
  ptx-lint man                            the manual page

exit status:
  0  nothing at or above the level of --fail-on
  1  findings at or above it
  2  wrong usage, an input that cannot be read, or a failure of ptx-lint itself
"""


class Options(argparse.Namespace):
    """What the command line says."""

    paths: list[str]
    formats: list[str]
    """As given: `X` or `X=FILE`."""
    format: str
    """What is printed."""
    written: list[tuple[str, str]]
    """Formats and the files they go to."""
    statistics: bool
    output: str | None
    color: str
    quiet: bool
    kernels: bool
    threads: int | None
    maxrregcount: int | None
    requires: bool
    cfg: str | None
    report: str | None
    target: str | None
    targets: list[str]
    select: list[str]
    extend_select: list[str]
    ignore: list[str]
    config: str | None
    no_config: bool
    force_exclude: bool
    show_files: bool
    fail_on: Literal["error", "warning", "info"] | None
    exit_zero: bool
    fix: bool
    unsafe_fixes: bool
    diff: bool
    add_ignore: bool
    baseline: str | None
    no_baseline: bool
    update_baseline: bool
    reason: str | None
    ratchet: bool
    cache_dir: str | None
    no_cache: bool
    watch: bool
    ptxas: str | None
    jobs: int | None
    stdin_filename: str
    explain: str | None
    rules: bool


class UsageError(Exception):
    """The command line asks for something that there is not."""


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line. Raises SystemExit as argparse does: 0 after --help, else 2."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    # Its value comes with `=` only, lest it take the first PATH for that.
    before = [f"{word}=" if word == "--ptxas" else word for word in words[:end]]
    options = parser().parse_intermixed_args(before, Options())
    options.paths.extend(words[end + 1 :])
    options.format, options.written = (["full", *options.formats])[-1], []
    return options


def complain(text: str) -> None:
    """Tells the user of something on standard error."""
    from ptx_lsp.lint.reporters.style import printable

    print(f"ptx-lint: {printable(text)}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Tells of a mistake in two lines, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"ptx-lint: error: {message}\nTry `{self.prog} --help`.\n")


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the examples as they are."""

    def _format_action_invocation(self, action: argparse.Action) -> str:
        return super()._format_action_invocation(action).replace("--ptxas PATH", "--ptxas[=PATH]")


def parser() -> argparse.ArgumentParser:
    """Every option of `ptx-lint`."""
    parser = Parser(
        prog="ptx-lint",
        usage="ptx-lint [OPTIONS] PATH ...",
        description="Finds mistakes in NVIDIA PTX, without a GPU.",
        epilog=_EPILOG,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH",
        help="a file, a directory (every *.ptx below it), or - for standard input",
    )
    parser.add_argument("--version", action="version", version=f"ptx-lint {__version__}")
    _add_judgement(parser)
    _add_changes(parser)
    _add_output(parser)
    _add_help(parser)
    return parser


def _add_judgement(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is judged")
    group.add_argument(
        "--select", action="extend", type=_rules, default=[], metavar="RULES",
        help="run these rules only: names, codes, first letters of codes (E1) or ALL, with commas",
    )
    group.add_argument(
        "--extend-select", action="extend", type=_names, default=[], metavar="RULES",
        help="run these as well, such as hints",
    )
    group.add_argument(
        "--ignore", action="extend", type=_names, default=[], metavar="RULES",
        help="leave these out, also of what is selected",
    )
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--target", metavar="T", help="judge for T (sm_90a) in place of the file's own .target"
    )
    either.add_argument(
        "--targets", action="extend", type=_targets, default=[], metavar="A,B",
        help="judge for each of these; what only some have says which",
    )
    group.add_argument(
        "--ptxas", metavar="PATH",
        help="also ask ptxas (--ptxas=PATH: that one), and take over what it measures",
    )
    group.add_argument(
        "--fail-on", choices=("error", "warning", "info"),
        help="the least severe finding that makes the exit status 1 (default: error)",
    )
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found")
    either = group.add_mutually_exclusive_group()
    either.add_argument(
        "--config", metavar="FILE",
        help="the configuration, in place of the nearest ptx-lint.toml or pyproject.toml",
    )
    either.add_argument("--no-config", action="store_true", help="look for no configuration")
    group.add_argument(
        "--force-exclude", action="store_true",
        help="leave out what the configuration excludes even where it is named",
    )
    group.add_argument(
        "--show-files", action="store_true", help="in place of findings: which files would be linted"
    )
    group.add_argument(
        "--stdin-filename", default=STANDARD_INPUT_NAME, metavar="NAME",
        help="what standard input is called in the report",
    )
    group.add_argument(
        "--cache-dir", metavar="DIR", help="keep reports there (default: with the user's caches)"
    )
    group.add_argument("--no-cache", action="store_true", help="keep and use no reports of other runs")
    group.add_argument(
        "--watch", action="store_true", help="run again whenever a file changes, until Ctrl-C"
    )
    group.add_argument(
        "--jobs", "-j", type=_positive, metavar="N",
        help="processes that share the files (default: the cores, or 1 for a little work)",
    )


def _add_changes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is changed, and what is known")
    group.add_argument("--fix", action="store_true", help="apply the fixes that are safe")
    group.add_argument(
        "--unsafe-fixes", action="store_true", help="apply those as well that are a guess; implies --fix"
    )
    group.add_argument(
        "--diff", action="store_true",
        help="in place of findings: what the fixes would change, which is left as it is",
    )
    group.add_argument(
        "--add-ignore", action="store_true", help="write a `ptx-lint: ignore` comment for each finding"
    )
    group.add_argument(
        "--baseline", metavar="FILE", help="hide the findings that FILE knows, and tell what became better"
    )
    group.add_argument("--no-baseline", action="store_true", help="use no baseline")
    group.add_argument(
        "--update-baseline", action="store_true", help="write what is found into the baseline"
    )
    group.add_argument("--reason", metavar="TEXT", help="why the baseline has what is new in it")
    group.add_argument(
        "--ratchet", action="store_true", help="fail as well where the baseline knows more than there is"
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what is printed")
    group.add_argument(
        "--format", "--output-format", action="append", default=[], dest="formats", metavar="X[=FILE]",
        help="full (default), concise, json, json-lines, sarif, github, gitlab, junit, rdjson, markdown, "
        "statistics; dot or svg with --cfg. With =FILE written there, beside what is printed",
    )
    group.add_argument(
        "--statistics", action="store_true", help="how many findings each rule has: --format statistics"
    )
    group.add_argument("--kernels", action="store_true", help="print the table of kernels")
    group.add_argument(
        "--threads", type=_block_size, metavar="N",
        help="threads in a block, for the occupancy of kernels whose directives leave that open",
    )
    group.add_argument(
        "--maxrregcount", type=_register_count, metavar="N",
        help="registers of a thread at most, as the option of ptxas and nvcc: in estimates, and for --ptxas; "
        ".maxnreg and block sizes override it",
    )
    group.add_argument(
        "--requires", action="store_true",
        help="in place of findings: the least .version and target of each file, and what demands them",
    )
    group.add_argument(
        "--cfg", metavar="KERNEL",
        help="in place of findings: the control flow graph of a kernel or function, in DOT, or as a "
        "picture with --format svg or -o NAME.svg",
    )
    group.add_argument(
        "--report", metavar="FILE.html",
        help="write a page as well: figures, occupancy curves, pressure and control flow of each kernel, "
        "and the findings",
    )
    group.add_argument("--output", "-o", metavar="FILE", help="write the report there")
    group.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto",
        help="auto (default): in a terminal, unless NO_COLOR is set",
    )
    group.add_argument(
        "--quiet", "-q", action="store_true", help="no source lines and no progress bar"
    )


def _add_help(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what things mean")
    group.add_argument(
        "--explain", metavar="NAME",
        help="explain a rule, an instruction with or without modifiers, a modifier, a type, a state "
        "space, a directive or a special register",
    )
    group.add_argument("--rules", action="store_true", help="list the rules")


def _names(text: str) -> list[str]:
    return [name for name in re.split(r"[,\s]+", text) if name]


def _rules(text: str) -> list[str]:
    """At least one: without any, all rules would run."""
    if not (names := _names(text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} names no rule: give names (undeclared-name), codes (E101), their first letters "
            "(E1) or ALL"
        )
    return names


def _targets(text: str) -> list[str]:
    """At least one: without any, the file's own would count."""
    if not (names := _names(text)):
        raise argparse.ArgumentTypeError(f"{text!r} names no target; a target is such as sm_90")
    return names


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return number


def _register_count(text: str) -> int:
    number = _positive(text)
    if number > 255:
        raise argparse.ArgumentTypeError(f"{number} is more than the 255 registers of a thread")
    return number


def _block_size(text: str) -> int:
    number = _positive(text)
    if number > 1024:
        raise argparse.ArgumentTypeError(f"{number} is more than the 1024 threads of the largest block")
    return number
