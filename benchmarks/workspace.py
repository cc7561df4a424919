"""Times names that the files of a workspace share, with a real server and files on disk.

    python -m benchmarks.workspace [--files N] [--rounds N]

The files are kernels of real compilers, of which each declares `shared_function` `.extern` and calls it; one
file defines it. `first` is the first answer after opening one of them, `again` the next, `changed` the answer
after another file has changed on disk. Milliseconds: the median, with the least and the most in brackets.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from benchmarks.inputs import HEADER, kernels
from benchmarks.processes import Spread
from benchmarks.tree import fill
from tests.server.connection import Connection, Json

_NAME = "shared_function"
_CALLING = f".extern .func {_NAME}();\n.visible .entry calling()\n{{\n    call {_NAME};\n    ret;\n}}\n"
_REQUESTS = ("definition", "references")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=1_000, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        size = fill(tree, options.files, [f"{HEADER}{_CALLING}{text}" for _, text in kernels()])
        definition = Path(tree, "library.ptx")
        definition.write_text(f"{HEADER}.visible .func {_NAME}()\n{{\n    ret;\n}}\n", encoding="utf-8")
        print(f"{options.files} files, {size / 1e6:.1f} MB, {os.cpu_count()} cores")
        times: dict[tuple[str, str], list[float]] = {}
        for number in range(options.rounds):
            for request in _REQUESTS:
                for name, seconds in _round(tree, request, number).items():
                    times.setdefault((request, name), []).append(1e3 * seconds)
        print(f"{'ms':12} {'first':>20} {'again':>20} {'changed':>20}")
        for request in _REQUESTS:
            cells = (Spread.of(times[request, name]) for name in ("first", "again", "changed"))
            print(f"{request:12} " + " ".join(f"{f'{a:.0f} ({b:.0f} to {c:.0f})':>20}" for a, b, c in cells))


def _round(tree: Path, request: str, number: int) -> dict[str, float]:
    """Seconds per answer of a fresh server."""
    paths = sorted(tree.rglob("*.ptx"))
    opened, other = paths[0], paths[len(paths) // 2]
    text = opened.read_text(encoding="utf-8")
    before = text[: text.index(f"call {_NAME}") + len("call ")]
    asked: dict[str, Json] = {
        "textDocument": {"uri": opened.as_uri()},
        "position": {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1},
        "context": {"includeDeclaration": True},
    }
    with Connection(folders=[tree]) as client:
        client.open(opened.as_uri(), text)
        client.findings(opened.as_uri(), 1)

        def seconds() -> float:
            start = time.perf_counter()
            assert client.request(f"textDocument/{request}", asked)
            return time.perf_counter() - start

        found = {"first": seconds(), "again": seconds()}
        other.write_text(other.read_text(encoding="utf-8") + f"// {number}\n", encoding="utf-8")
        return {**found, "changed": seconds()}


if __name__ == "__main__":
    main()
