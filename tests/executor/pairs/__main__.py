"""All correct twins in many orders, and how soon the wrong kernels are found:
`python -m tests.executor.pairs --orders 1000`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple

from ptx_lsp.parallel.executors import executor
from tests.executor.pairs import FILES, Pair, name_of

_SEEDS = 64


class Options(argparse.Namespace):
    """The command line."""

    orders: int
    jobs: int | None
    names: list[str]


class Result(NamedTuple):
    """Of a pair."""

    name: str
    found: str
    """The kind of the finding in the wrong kernel, and its first seed; empty for none."""
    false: list[str]
    """Findings in the correct kernel."""
    seconds: float
    """The processor time."""


def judge(name: str, orders: int) -> Result:
    """Runs both kernels of a pair."""
    begun = time.process_time()
    pair = Pair.of(next(path for path in FILES if name_of(path) == name))
    right = pair.right(pair.run("wrong")) or pair.right(pair.run("wrong", seeds=_SEEDS))
    wrong = pair.reported(pair.run("correct", seeds=orders))
    false = [f"{one.kind}: {one.message} (seed {one.seed})" for one in wrong]
    found = f"{right[0].kind}, seed {right[0].seed}" if right else ""
    return Result(name, found, false, time.process_time() - begun)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each pair; 1 if a wrong kernel is not found or a correct one is reported."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=1000, help="of each correct kernel (default: 1000)")
    parser.add_argument("--jobs", type=int, help="pairs at a time (default: one per core)")
    parser.add_argument("names", nargs="*", help="the pairs whose names have one of these (default: all)")
    options = parser.parse_args(arguments, Options())
    names = [
        name for name in map(name_of, FILES)
        if not options.names or any(one in name for one in options.names)
    ]
    missed = false = 0
    seconds = 0.0
    with executor(options.jobs) as pool:
        for one in pool.map(judge, names, [options.orders] * len(names)):
            missed, false, seconds = missed + (not one.found), false + bool(one.false), seconds + one.seconds
            print(f"{one.name}: {one.found or 'MISSED'}", *one.false, f"({one.seconds:.1f} s)", flush=True)
    print(
        f"{len(names) - missed} of {len(names)} wrong kernels found; {len(names) - false} correct ones "
        f"silent in {options.orders} orders; {seconds:.0f} s"
    )
    return 1 if missed or false else 0


if __name__ == "__main__":
    sys.exit(main())
