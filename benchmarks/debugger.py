"""`ptx-dap` beside `ptx-run`, as whole processes: a run without breakpoints, the first breakpoint, steps and
steps back.

    python -m benchmarks.debugger [--rounds N]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import cast

from benchmarks.corpus import ROOT
from benchmarks.processes import compile_modules, run
from ptx_lsp.debug.adapter.messages import Channel, Json, Object

KERNELS = ROOT / "tests" / "executor" / "kernels"
_STEPS = 20
_COMMAND = "import sys; from {} import main; sys.exit(main())"


@dataclass(frozen=True)
class Case:
    """A launch, and a line in the middle of its work."""

    name: str
    path: Path
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: tuple[str, ...]
    line: int
    shared: int = 0

    @property
    def program(self) -> Object:
        """The arguments of a launch request."""
        found: Object = {
            "program": str(self.path), "entry": self.entry, "grid": list(self.grid),
            "block": list(self.block), "args": list(self.args), "shared": self.shared,
        }
        return found

    @property
    def command(self) -> list[str]:
        """The command line of `ptx-run`."""
        sizes = [f"--grid={','.join(map(str, self.grid))}", f"--block={','.join(map(str, self.block))}"]
        given = [f"--arg={one}" for one in self.args]
        return [
            sys.executable, "-c", _COMMAND.format("ptx_lsp.cli.run"), str(self.path), f"--entry={self.entry}",
            *sizes, *given, f"--shared={self.shared}",
        ]


def _triton(path: Path, line: int) -> Case:
    """A product of 128x128x128 in tiles of 64x64."""
    matrix = "f16:random(16384)"
    return Case(
        f"Triton, {path.stem.removeprefix('triton_')}", path, "matmul_k", (4,), (128,),
        (matrix, matrix, "f16:zeros(16384)", *("u32:128",) * 6, "u64:0", "u64:0"), line, 65536,
    )


CASES = (
    _triton(ROOT / "tests" / "oracle" / "corpus" / "triton_matmul_f16_64x64x32.sm80.ptx", 416),
    _triton(KERNELS / "triton_wgmma_matmul.ptx", 353),
    Case(
        "`saxpy`, 1 048 576 elements", ROOT / "examples" / "saxpy.ptx", "saxpy", (4096,), (256,),
        ("u32:1048576", "f32:2", "f32:arange(1048576)", "f32:arange(1048576)"), 37,
    ),
    Case(
        "tiled matmul, 256x256x256", KERNELS / "matmul.ptx", "matmul", (16, 16), (16, 16),
        ("f32:random(65536)", "f32:random(65536)", "f32:zeros(65536)", "u32:256"), 62,
    ),
    Case(
        "divergent loop, 100 000 numbers", KERNELS / "collatz.ptx", "collatz", (391,), (256,),
        ("u32:arange(1,100001)", "u32:zeros(100000)", "u32:100000"), 29,
    ),
)


class Adapter:
    """A process with `ptx-dap`, and its client."""

    def __init__(self, case: Case) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND.format("ptx_lsp.debug.command")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._input, source = self._process.stdin, self._process.stdout.fileno()
        self._channel = Channel(lambda most: os.read(source, most), self._write)
        self._case = case
        self.ask("initialize", adapterID="ptx")
        self.ask("launch", **case.program)

    def _write(self, data: bytes) -> None:
        self._input.write(data)
        self._input.flush()

    def ask(self, command: str, **arguments: Json) -> Object:
        """The body of the answer to a request."""
        self._channel.send({"type": "request", "command": command, "arguments": arguments})
        while (found := self._message())["type"] != "response":
            pass
        if not found["success"]:
            raise ValueError(str(found["message"]))
        return cast(Object, found.get("body") or {})

    def break_at(self, line: int) -> None:
        """Sets the only breakpoint."""
        self.ask("setBreakpoints", source={"path": str(self._case.path)}, breakpoints=[{"line": line}])

    def go(self, command: str, thread: Json = 1) -> Object:
        """Lets the kernel go on until it stops; the event."""
        self.ask(command, threadId=thread)
        while (found := self._message()).get("event") not in ("stopped", "terminated"):
            pass
        return {**cast(Object, found.get("body") or {}), "event": found["event"]}

    @property
    def cpu(self) -> float:
        """The seconds of CPU time that the process has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> tuple[float, int]:
        """Ends the process; its CPU time in seconds, and its most memory in bytes."""
        self.ask("disconnect")
        self._input.close()
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024

    def _message(self) -> Object:
        found = self._channel.receive()
        if found is None:
            raise ValueError("ptx-dap has ended")
        return found


def without_breakpoints(case: Case, rounds: int) -> tuple[float, float]:
    """The least CPU seconds of `ptx-run` and of `ptx-dap`, in turns."""
    plain: list[float] = []
    debugged: list[float] = []
    for _ in range(rounds):
        plain.append(run(case.command).cpu)
        adapter = Adapter(case)
        adapter.go("configurationDone")
        debugged.append(adapter.close()[0])
    return min(plain), min(debugged)


def stops(case: Case) -> tuple[float, float, float, int]:
    """CPU seconds until the first breakpoint, of a step and of a step back (medians), and the most bytes."""
    adapter = Adapter(case)
    adapter.break_at(case.line)
    stop = adapter.go("configurationDone")
    first = adapter.cpu
    forward = [_timed(adapter, "next", stop) for _ in range(_STEPS)]
    back = [_timed(adapter, "stepBack", stop) for _ in range(_STEPS)]
    return first, median(forward), median(back), adapter.close()[1]


def _timed(adapter: Adapter, command: str, stop: Object) -> float:
    start = time.perf_counter()
    moved = adapter.go(command, stop["threadId"])
    stop["threadId"] = moved.get("threadId", stop["threadId"])
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    compile_modules()
    print("| kernel | `ptx-run` | `ptx-dap` | ratio | first breakpoint | step | step back | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        plain, debugged = without_breakpoints(case, rounds)
        first, step, back, memory = stops(case)
        print(
            f"| {case.name} | {plain:.2f} s | {debugged:.2f} s | {debugged / plain:.2f} | {first:.2f} s | "
            f"{1000 * step:.0f} ms | {1000 * back:.0f} ms | {memory >> 20} MB |"
        )


if __name__ == "__main__":
    main()
