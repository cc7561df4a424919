"""Times ptxas in the background, with a real `ptx-lsp` process at the other end of a pipe.

    python -m benchmarks.measuring [--rounds N] [FILE ...]

`ptxas` is its run alone. `lens` is from an edit to its figure in the code lens: the pause in typing, ptxas,
and the requests for the lens. `hover` is the answer to a hover while ptxas runs, and `without` the same with
ptxas turned off.
Milliseconds: the median, and the 95th of 100.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import quantiles

from ptx_lsp import ptxas
from ptx_lsp.server.background.measuring import PAUSE
from tests.server.connection import Connection, Json, at, of_file

ROOT = Path(__file__).parents[1]
FILES = (
    ROOT / "examples/saxpy.ptx",
    ROOT / "tests/executor/kernels/triton_wgmma_matmul.ptx",
    ROOT / "tests/oracle/corpus/nvcc130_reduce.sm80.lineinfo.ptx",
)
URI = "file:///benchmark/kernels.ptx"
CAPABILITIES: Json = {"workspace": {"codeLens": {"refreshSupport": True}}}


class Editor:
    """Types spaces at the end of a file."""

    def __init__(self, text: str, mode: str) -> None:
        self.text = text
        self.version = 1
        options: Json = {"ptxas": mode, "notifications": ["ptx/measured"]}
        self.client = Connection(CAPABILITIES, options=options, patience=600)
        self.client.open(URI, text)

    def type(self) -> None:
        self.version += 1
        line = self.text.count("\n")
        start: Json = {"line": line, "character": 0}
        self.client.change(URI, self.version, [{"range": {"start": start, "end": start}, "text": " "}])

    def lens(self) -> float:
        """Seconds from an edit to the measured figure."""
        notified = self.client.notified
        notified.clear()
        begin = time.perf_counter()
        self.type()
        self.client.wait_until(lambda: any(one.get("method") == "ptx/measured" for one in notified))
        for lens in _list(self.client.request("textDocument/codeLens", of_file(URI))):
            if "(ptxas " in str(at(self.client.request("codeLens/resolve", lens), "command", "title")):
                return time.perf_counter() - begin
        raise AssertionError("no lens has a measured figure")

    def hover(self, place: Json) -> float:
        """Seconds to the answer of a hover, just after ptxas has started."""
        self.type()
        time.sleep(PAUSE + 0.02)
        begin = time.perf_counter()
        self.client.request("textDocument/hover", of_file(URI, position=place))
        return time.perf_counter() - begin


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, default=FILES)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    program = ptxas.find()
    if program is None:
        raise SystemExit("there is no ptxas")
    print(f"ptxas {ptxas.version(program)}")
    print("| file | lines | ptxas | lens | hover | without |\n|---|---|---|---|---|---|")
    for path in options.files:
        text = path.read_text(encoding="utf-8")
        alone: list[float] = []
        for _ in range(5):
            begin = time.perf_counter()
            ptxas.judge(text.encode(), ptxas=program)
            alone.append(time.perf_counter() - begin)
        lines = text.split("\n")
        number = next(n for n, line in enumerate(lines) if line.lstrip().startswith("mov"))
        place: Json = {"line": number, "character": lines[number].index("mov") + 1}
        cells = [path.name, f"{len(lines) - 1:,}", f"{1000 * sorted(alone)[2]:.0f}"]
        for mode in ("auto", "off"):
            editor = Editor(text, mode)
            with editor.client:
                if mode == "auto":
                    editor.lens()
                    cells.append(_percentiles([editor.lens() for _ in range(options.rounds)]))
                editor.hover(place)
                cells.append(_percentiles([editor.hover(place) for _ in range(options.rounds)]))
        print(f"| {' | '.join(cells)} |", flush=True)


def _percentiles(taken: list[float]) -> str:
    cuts = quantiles([1000 * one for one in taken], n=20)
    return f"{cuts[9]:.0f} ({cuts[18]:.0f})"


if __name__ == "__main__":
    main()
