"""The command `ptx-run`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ptx_lsp import __version__

DONE, FAILED, TROUBLE = 0, 1, 2
"""The exit status: the kernel ran; it went wrong; the command line or a file is wrong."""

_EPILOG = """\
an argument is one of
  u32:5  f32:1.5                 a value
  f32[]:1,2,3                    a buffer with these elements
  u32[]:zeros:1024               a buffer of zeros (or ones)
  f32[]:arange:32                a buffer with 0, 1, 2, ...
  @file.npy                      a buffer from a file

example:
  ptx-run saxpy.ptx --entry saxpy --grid 4 --block 256 --arg u32:1000 --arg f32:2 \\
      --arg f32[]:arange:1000 --arg f32[]:zeros:1000 --out 3
"""


class Options(argparse.Namespace):
    """What the command line says."""

    file: str
    entry: str
    grid: list[int]
    block: list[int]
    arg: list[str]
    out: list[str]
    shared: int
    limit: int | None


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    try:
        options = _parse(argv)
    except SystemExit as done:  # --help, --version or a mistake, told already
        return done.code if isinstance(done.code, int) else TROUBLE
    from ptx_lsp.cli.buffers import SpecError
    from ptx_lsp.executor import ExecutionError

    try:
        _run(options)
    except ExecutionError as error:
        return _complain(options, error)
    except (SpecError, OSError) as error:
        print(f"ptx-run: error: {error}", file=sys.stderr)
        return TROUBLE
    return DONE


def _run(options: Options) -> None:
    from pathlib import Path

    from ptx_lsp.cli.buffers import argument, delivered
    from ptx_lsp.executor import launch

    arguments = [argument(spec) for spec in options.arg]
    outputs = [delivered(spec, arguments) for spec in options.out]
    source = sys.stdin.read() + "\n" if options.file == "-" else Path(options.file)
    limits = {} if options.limit is None else {"limit": options.limit}
    launch(
        source, entry=options.entry, grid=options.grid, block=options.block, args=arguments,
        shared_bytes=options.shared, **limits,
    )
    for output in outputs:
        output.deliver()


def _complain(options: Options, error: Exception) -> int:
    from ptx_lsp.executor import ExecutionError

    assert isinstance(error, ExecutionError)
    text = str(error).removeprefix(f"line {error.line}: ")
    place = f"{options.file}:{error.line}" if error.line else options.file
    print(f"{place}: error[{error.kind}] {text}", file=sys.stderr)
    for lane in error.lanes[:1]:
        more = f", and {len(error.lanes) - 1} more" if len(error.lanes) > 1 else ""
        print(f"  block {lane.block}, thread {lane.thread}{more}", file=sys.stderr)
    return TROUBLE if error.kind == "launch" else FAILED


def _parse(argv: Sequence[str] | None) -> Options:
    parser = argparse.ArgumentParser(
        prog="ptx-run", description="Runs a PTX kernel without a GPU.", epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ptx-run {__version__}")
    parser.add_argument("file", metavar="FILE", help="a PTX file, or `-` for standard input")
    parser.add_argument("--entry", required=True, metavar="NAME", help="the kernel")
    for name in ("grid", "block"):
        parser.add_argument(
            f"--{name}", required=True, type=_dimensions, metavar="X[,Y[,Z]]",
            help="blocks" if name == "grid" else "threads of a block",
        )
    parser.add_argument(
        "--arg", action="append", default=[], metavar="SPEC", help="an argument, in order"
    )
    parser.add_argument(
        "--out", action="append", default=[], metavar="INDEX[=FILE.npy]",
        help="prints the buffer with that number (from 0), or saves it",
    )
    parser.add_argument(
        "--shared", type=int, default=0, metavar="BYTES", help="dynamic shared memory of a block"
    )
    parser.add_argument(
        "--limit", type=int, metavar="COUNT",
        help="gives up after that many instructions of a group of blocks",
    )
    return parser.parse_args(argv, namespace=Options())


def _dimensions(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise ValueError(text)
    return sizes


if __name__ == "__main__":
    sys.exit(main())
