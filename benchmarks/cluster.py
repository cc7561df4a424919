"""Compares a Dask cluster of two workers on this machine with two processes, on a tree of many files.

    python -m benchmarks.cluster [--files N] [--rounds N] [--kill] [--cpu]

The files are copies of those of the corpus (`benchmarks/corpus.py`) with names of their own, none larger
than 64 KiB. Both run by turns, without cache; the reports (`--format json`) must be the same bytes. A ratio
is that of two runs of one round: of wall-clock time, and of the CPU time of all processes. `--cpu` prints
only the latter, which depends less on what else the machine does. `--kill` kills a worker when
half of the report is there; then CPU time is not measured, as that of killed processes is partly lost.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpus import all_files, default_folder
from benchmarks.processes import Spread, ptx_lint

_LARGEST = 64 << 10
_WORKERS = 2
_CLUSTER = (
    "import sys\n"
    "from distributed import LocalCluster\n"
    "if __name__ == '__main__':\n"
    f"    with LocalCluster(n_workers={_WORKERS}, threads_per_worker=1, dashboard_address=None) as cluster:\n"
    "        print(cluster.scheduler_address, flush=True)\n"
    "        sys.stdin.read()\n"
)


class Figures(NamedTuple):
    """Seconds of a run, and of CPU time of the command and all workers."""

    seconds: float
    cpu: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = [
            path.read_bytes() for path in all_files(default_folder(), folder / "corpus").values()
        ]
        size = fill(folder / "tree", sources, given.files)
        print(f"{given.files} files, {size / 1e6:.0f} MB")
        (folder / "cluster.py").write_text(_CLUSTER)
        with subprocess.Popen(
            [sys.executable, str(folder / "cluster.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as cluster:
            assert cluster.stdout is not None and cluster.stdin is not None
            address = cluster.stdout.readline().strip().replace("tcp://", "dask://")
            try:
                _compare(folder, address, cluster.pid, given.rounds, given.kill, given.cpu)
            finally:
                cluster.stdin.close()
    return 0


def fill(folder: Path, sources: Sequence[bytes], count: int) -> int:
    """Writes the files, each with kernels of its own, in folders of a hundred; returns their size."""
    small = [data for data in sources if len(data) <= _LARGEST]
    size = 0
    for number in range(count):
        place = folder / f"{number // 100:03}" / f"k{number}.ptx"
        place.parent.mkdir(parents=True, exist_ok=True)
        data = (
            small[number % len(small)]
            + f"\n// copy {number}\n.global .u32 of_copy_{number};\n".encode()
        )
        size += place.write_bytes(data)
    return size


def _compare(
    folder: Path, address: str, cluster: int, rounds: int, kill: bool, only_cpu: bool
) -> None:
    found: dict[str, list[Figures]] = {"2": [], address: []}
    report = folder / "report.json"
    middle = 0
    if kill:
        _run(folder, "2", None, 0)  # the report that all others must be, and its size
        middle = report.stat().st_size // 2
    reports = {report.read_bytes()} if kill else set[bytes]()
    for _ in range(rounds):
        for jobs, figures in found.items():
            figures.append(_run(folder, jobs, cluster if jobs == address else None, middle))
            reports.add(report.read_bytes())
            seconds, cpu = figures[-1]
            print(
                f"{jobs}: {seconds:.1f} s" + ("" if kill else f", CPU time {cpu:.1f} s"), flush=True
            )
            if len(reports) > 1:
                raise RuntimeError("the reports differ")
    print(f"The reports are the same {len(reports.pop())} bytes.")
    for jobs, figures in found.items():
        wall, cpu = (Spread.of([one[index] for one in figures]) for index in (0, 1))
        print(f"{jobs}: {_shown(wall)} s" + ("" if kill else f", CPU time {_shown(cpu)} s"))
    both = list(zip(*found.values(), strict=True))
    if not only_cpu:
        print(
            f"wall-clock ratio: {_shown(Spread.of([there[0] / here[0] for here, there in both]))}"
        )
    if not kill:  # nobody counts the CPU time of what is killed, and of the processes below it
        print(f"CPU ratio: {_shown(Spread.of([there[1] / here[1] for here, there in both]))}")


def _run(folder: Path, jobs: str, cluster: int | None, middle: int) -> Figures:
    """With a `middle`, a worker is killed when the report has so many bytes."""
    before, start = _cpu(cluster), time.perf_counter()
    report = folder / "report.json"
    command = [
        *ptx_lint(), "--no-cache", "--no-config", "--format", "json", "--jobs", jobs, str(folder / "tree"),
    ]  # fmt: skip
    with report.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream)
    while middle and process.poll() is None:
        if report.stat().st_size >= middle:
            print(f"killed process {_kill_a_worker(cluster or process.pid)}", flush=True)
            break
        time.sleep(0.02)
    if middle and process.returncode is not None:
        raise RuntimeError("the run ended before its middle was seen")
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise subprocess.CalledProcessError(process.returncode, command)
    seconds = time.perf_counter() - start
    return Figures(seconds, used.ru_utime + used.ru_stime + _cpu(cluster) - before)


def _kill_a_worker(parent: int) -> int:
    """Kills the child that has spent most; of a cluster, a Dask worker. Returns its number."""
    worker = max(_children(parent), key=_ticks, default=None)
    if worker is None:
        raise RuntimeError("there is no worker to kill")
    os.kill(worker, signal.SIGKILL)
    return worker


def _below(parent: int) -> list[int]:
    return [pid for child in _children(parent) for pid in (child, *_below(child))]


def _children(parent: int) -> list[int]:
    threads = Path(f"/proc/{parent}/task").glob("*/children")  # any thread may have started some
    return [int(child) for thread in threads for child in thread.read_text().split()]


def _cpu(cluster: int | None) -> float:
    """The CPU seconds of a cluster until now."""
    if cluster is None:
        return 0.0
    return sum(map(_ticks, (cluster, *_below(cluster)))) / os.sysconf("SC_CLK_TCK")


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))  # of the process, and of children that have ended


def _shown(figure: Spread) -> str:
    return f"best {figure.least:.2f}, median {figure.median:.2f}, worst {figure.most:.2f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
