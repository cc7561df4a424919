"""The options of `ptx-run`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Literal

from ptx_lsp import __version__
from ptx_lsp.command_parser import CommandParser

_EPILOG = """\
an argument is one of
  u32:5  f32:1.5                 a value
  f32[]:1,2,3                    a buffer with these elements
  u32[]:zeros:1024               a buffer of zeros (or ones); also u32:zeros(1024)
  f32[]:arange:32                a buffer with 0, 1, 2, ...; also f32:arange(32)
  f32:full(8,1.5)  f32:random(8) a buffer with one value, or random ones (see --seed)
  @file.npy  @file.npz:name      a buffer from a file
  texture(f32:arange(16),shape=4x4,filter=linear)  surface(...)  sampler(...)
  tensor(u16:arange(512),shape=16x32,box=4x16)  multimem(u32:arange(16),gpus=2)
and can be passed by name: --arg x=f32:arange(32)

examples:
  ptx-run saxpy.ptx --entry saxpy --grid 4 --block 256 --arg u32:1000 --arg f32:2 \\
      --arg f32[]:arange:1000 --arg f32[]:zeros:1000 --out 3
  ptx-run --launch saxpy.toml --check --profile
  ptx-run saxpy.ptx --seeds 64   in 64 orders of threads, with all checks
  ptx-run --check --python train.py --epochs 1
  ptx-run --explain race         what a finding means, and what would be right
  ptx-run saxpy.ptx              as specified by the `// ptx-run:` comments in the file

exit status:
  0  the kernel ran and, with --check, there are no findings above notes
  1  the kernel failed, --check reported findings, or a buffer differs from --expect
  2  usage error, or an invalid file
"""


class Options(argparse.Namespace):
    """The options on the command line; None if absent."""

    file: str | None
    explain: str | None
    entry: str | None
    grid: list[int] | None
    block: list[int] | None
    cluster: list[int] | None
    arg: list[str]
    launch: str | None
    out: list[str]
    expect: list[str]
    rtol: float
    atol: float
    shared: int | None
    device: str | None
    cooperative: bool | None
    ptxas: str | None
    seed: int | None
    seeds: int | None
    debug: bool
    jobs: int | None
    limit: int | None
    seconds: float | None
    check: bool
    weak: bool
    benign: bool
    native: Literal["auto", "off", "always"]
    trace: int | None
    trace_lines: frozenset[int] | None
    trace_threads: list[tuple[int, ...]] | None
    profile: bool
    format: Literal["text", "json"]
    quiet: bool
    python: list[str] | None
    save_ptx: str | None
    record: str | None
    debug_on_finding: bool


def parse(argv: Sequence[str] | None) -> Options:
    """The options of a command line. Raises SystemExit as argparse does: 0 after --help, else 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    end = words.index("--python") if "--python" in words else len(words)
    words[:end] = [f"{word}=" if word == "--ptxas" else word for word in words[:end]]
    known = parser()
    options = known.parse_args(known.checked(words), namespace=Options())
    options.check |= options.debug_on_finding
    return options


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def _format_action_invocation(self, action: argparse.Action) -> str:
        return super()._format_action_invocation(action).replace("--ptxas PATH", "--ptxas[=PATH]")


def parser() -> CommandParser:
    """Every option of `ptx-run`."""
    parser = CommandParser(
        prog="ptx-run", description="Runs a PTX kernel without a GPU.", epilog=_EPILOG,
        formatter_class=_Formatter, allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"ptx-run {__version__}")
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a PTX file, or `-` for standard input"
    )
    parser.add_argument(
        "--explain", metavar="NAME", help="explain a kind of finding, such as race, or a word of PTX"
    )
    _add_launch(parser)
    _add_results(parser)
    _add_debugger(parser)
    _add_program(parser)
    return parser


def _add_launch(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("launch")
    group.add_argument(
        "--entry", metavar="NAME",
        help="the kernel to run, mangled or as in CUDA: 'foo<float>(float*)', foo (default: the only one in "
        "the file)",
    )
    group.add_argument("--grid", type=_dimensions, metavar="X[,Y[,Z]]", help="blocks")
    group.add_argument("--block", type=_dimensions, metavar="X[,Y[,Z]]", help="threads per block")
    group.add_argument(
        "--cluster", type=_dimensions, metavar="X[,Y[,Z]]",
        help="blocks per cluster (default: as the kernel specifies)",
    )
    group.add_argument(
        "--arg", action="append", default=[], metavar="SPEC",
        help="an argument, in order, or NAME=SPEC for a parameter, or for a variable that is a texture, "
        "sampler or surface",
    )
    group.add_argument(
        "--launch", metavar="FILE.toml", help="a launch file; command-line options take precedence"
    )
    group.add_argument(
        "--shared", type=_count, metavar="BYTES", help="dynamic shared memory per block, in bytes"
    )
    group.add_argument(
        "--device", metavar="TARGET",
        help="check the launch for this device, such as sm_86 (default: the best that can run the kernel); "
        "with --python the device that the program sees (default: sm_90)",
    )
    group.add_argument(
        "--cooperative", action=argparse.BooleanOptionalAction, default=None,
        help="all blocks are resident at once, or the launch is refused (default: if the kernel uses "
        "`grid.sync()`)",
    )
    group.add_argument(
        "--ptxas", metavar="PATH",
        help="ask ptxas (or the one at PATH) for the registers of a thread, and refuse a launch that needs "
        "too many",
    )
    group.add_argument(
        "--seed", type=_count, metavar="N",
        help="the seed of the schedule and of random buffers (default: 0)",
    )
    group.add_argument(
        "--seeds", type=_positive, metavar="N",
        help="check the kernel in N orders, from --seed on; each finding names a seed that replays it",
    )
    group.add_argument(
        "--jobs", "-j", type=_positive, metavar="N",
        help="with --seeds: run N orders at a time (default: the number of cores)",
    )
    group.add_argument(
        "--limit", type=_count, metavar="COUNT",
        help="stop after this many instructions without a finished block (default: 8388608)",
    )
    group.add_argument("--seconds", type=_seconds, metavar="S", help="stop after this time")
    group.add_argument(
        "--native", choices=("auto", "off", "always"), default="auto",
        help="compile the kernel to native code: once it has run for long (default), never, or at once; "
        "needs llvmlite (`pip install 'ptx-lsp[native]'`)",
    )


def _add_results(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--out", action="append", default=[], metavar="INDEX[=FILE]",
        help="print the buffer with this number (from 0) or name, or save it to FILE.npy; several buffers "
        "can share one FILE.npz",
    )
    group.add_argument(
        "--expect", action="append", default=[], metavar="INDEX=FILE",
        help="fail unless the buffer with this number or name has the values of FILE.npy, of "
        "FILE.npz:NAME, or of a SPEC",
    )
    group.add_argument(
        "--rtol", type=_tolerance, default=0.0, metavar="R",
        help="the relative difference that --expect allows (default: 0)",
    )
    group.add_argument(
        "--atol", type=_tolerance, default=0.0, metavar="A",
        help="the absolute difference that --expect allows (default: 0)",
    )
    group.add_argument(
        "--check", action="store_true",
        help="report uninitialised reads, races, accesses outside a variable, and divergent barriers",
    )
    group.add_argument(
        "--benign", action="store_true",
        help="also note writes of equal values that nothing orders; implies --check",
    )
    group.add_argument(
        "--weak", action="store_true",
        help="with --seeds or a --seed other than 0: loads may see what PTX's memory model allows, such as "
        "older values where nothing orders the last write before them; implies --check",
    )
    group.add_argument(
        "--profile", action="store_true",
        help="report executed instructions by line and opcode, with divergence, memory transactions and "
        "bank conflicts",
    )
    group.add_argument(
        "--record", metavar="FILE.ptxrec",
        help="write the launch with all its inputs to FILE, to be debugged elsewhere: of several the first "
        "that fails or has findings, else the last",
    )
    group.add_argument(
        "--debug-on-finding", action="store_true",
        help="debug the kernel from its first error on; without a terminal, record the launch as --record "
        "does (default: KERNEL.ptxrec); implies --check",
    )
    group.add_argument(
        "--trace", nargs="?", type=_count, const=1000, metavar="EVENTS",
        help="report what each instruction reads and writes (default: 1000 events)",
    )
    group.add_argument(
        "--trace-lines", type=_lines, metavar="10,12-15", help="trace only these lines of the PTX"
    )
    group.add_argument(
        "--trace-threads", type=_threads, metavar="BLOCK:THREAD,...",
        help="trace these threads (flat numbers) instead of the first four of each instruction",
    )
    group.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format"
    )
    group.add_argument("--quiet", "-q", action="store_true", help="omit the progress bar")


def _add_debugger(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("debugger")
    group.add_argument(
        "--debug", action="store_true",
        help="debug the kernel with the commands of cuda-gdb, from the terminal or from standard input; "
        "completion and history need prompt_toolkit (`pip install 'ptx-lsp[debug]'`)",
    )


def _add_program(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Python programs")
    group.add_argument(
        "--python", nargs=argparse.REMAINDER, metavar="SCRIPT ARGS",
        help="run a Python program that uses CUDA (or `-m MODULE`), such as one with tinygrad, Numba or "
        "Triton, with the executor as its device; all that follows belongs to it",
    )
    group.add_argument(
        "--save-ptx", metavar="FOLDER", help="write the PTX of its modules to files in FOLDER"
    )


def _dimensions(text: str) -> list[int]:
    parts = text.split(",")
    sizes = [int(part) if part.isdecimal() else 0 for part in parts]
    if len(sizes) > 3 or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"`{text}`: expected one to three positive integers")
    return sizes


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"`{text}` is not a non-negative integer")
    return int(text)


def _positive(text: str) -> int:
    number = _count(text)
    if not number:
        raise argparse.ArgumentTypeError("expected a positive integer")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"`{text}` is not a duration")
    return number


def _tolerance(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"`{text}` is not a non-negative number")
    return number


def _lines(text: str) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        matched = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if matched is None:
            raise argparse.ArgumentTypeError(f"`{part}` is not a line number or a range such as 12-15")
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if last - first > 1_000_000:
            raise argparse.ArgumentTypeError(f"`{part}` has too many lines")
        found.update(range(first, last + 1))
    return frozenset(found)


def _threads(text: str) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    for part in text.split(","):
        matched = re.fullmatch(r"(\d+):(\d+)", part.strip())
        if matched is None:
            raise argparse.ArgumentTypeError(f"`{part}`: expected BLOCK:THREAD, such as 0:31")
        found.append((int(matched[1]), int(matched[2])))
    return found
