"""Compares the table of kernels with the metadata of a Triton cache:
`python -m tests.oracle.triton_cache FOLDER... [--header PATH]`.

For each `.ptx` with metadata, the block size, the dynamic shared memory, the cluster size and the options in
JSON must be those of the metadata, and `.reqntid` and `.maxntid` those of the kernel. With the header
`cuda_occupancy.h` (see `tests/oracle/figures/occupancy.py`), the resident blocks must be what NVIDIA's
calculator says for them and for the registers of ptxas, which must be at hand; what ptxas rejects is counted.
This reads the metadata and the output of ptxas by itself.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict, cast

from ptx_lsp import ptxas
from ptx_lsp.analyses.occupancy.calculator import BlockResources
from tests.oracle.figures.occupancy import Case, answers


class Metadata(TypedDict):
    """What this needs of the JSON file of a kernel."""

    name: str
    num_warps: int
    num_ctas: NotRequired[int]
    num_stages: NotRequired[int]
    maxnreg: NotRequired[int | None]
    cluster_dims: NotRequired[list[int]]
    shared: int
    target: NotRequired[dict[str, object]]
    triton_version: NotRequired[str]


class Expected(NamedTuple):
    """What the metadata of a kernel imply, and what its row is to have."""

    threads: int
    shared: int
    cluster: int

    @staticmethod
    def of(found: Metadata, text: str) -> Expected:
        cluster = found.get("num_ctas", 1)
        dims = found.get("cluster_dims", [cluster, 1, 1])
        if dims[0] * dims[1] * dims[2] != cluster:
            raise ValueError(f"cluster_dims {dims} are not num_ctas {cluster}")
        uses_shared = ".extern .shared" in text
        if found["shared"] and not uses_shared:
            raise ValueError("shared memory without a variable for it")
        return Expected(32 * found["num_warps"], found["shared"] if uses_shared else 0, cluster)


class Row(NamedTuple):
    """A kernel of the JSON report with its metadata."""

    path: Path
    kernel: dict[str, object]
    metadata: Metadata
    expected: Expected

    @property
    def place(self) -> str:
        return f"{self.path.parent.name[:8]}/{self.path.name}"


def rows(folders: Iterable[Path]) -> list[Row]:
    """The kernels of all files with metadata."""
    command = [sys.executable, "-m", "ptx_lsp", "--quiet", "--no-cache", "--format", "json", *folders]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stderr:
        raise ValueError(done.stderr)
    found: list[Row] = []
    for file in json.loads(done.stdout)["files"]:
        path = Path(file["path"])
        beside = path.with_suffix(".json")
        if not beside.exists():
            continue
        (kernel,) = file["kernels"]
        metadata = cast(Metadata, json.loads(beside.read_text()))
        found.append(Row(path, kernel, metadata, Expected.of(metadata, path.read_text())))
    return found


def differences(row: Row) -> Iterator[str]:
    """What the row of a kernel has other than its metadata imply."""
    kernel, metadata, expected = row.kernel, row.metadata, row.expected
    names = ("num_warps", "num_stages", "num_ctas", "maxnreg")
    version = metadata.get("triton_version")
    said: dict[str, object] = {
        "name": metadata["name"],
        "threads_per_block": expected.threads,
        "dynamic_shared_bytes": expected.shared,
        "cluster_size": expected.cluster,
        "metadata": {
            "compiler": f"Triton {version}" if version else "Triton",
            "options": {name: value for name in names if (value := metadata.get(name)) is not None},
        },
    }
    for name, value in said.items():
        if kernel[name] != value:
            yield f"{row.place}: {name} is {kernel[name]}, the metadata say {value}"
    directives = re.findall(r"^\.(?:reqntid|maxntid) (\d+)", row.path.read_text(), re.MULTILINE)
    if directives != [str(expected.threads)]:
        yield f"{row.place}: its directives say {directives} threads, the metadata {expected.threads}"
    arch = metadata["target"]["arch"] if "target" in metadata else None
    if arch is not None and re.sub("[af]$", "", str(kernel["target"])) != f"sm_{arch}":
        yield f"{row.place}: its target is {kernel['target']}, the metadata say {arch}"


def occupancy_cases(found: Iterable[Row], program: Path) -> list[tuple[Row, Case]]:
    """The block of each kernel that ptxas takes, with its row."""
    cases: list[tuple[Row, Case]] = []
    for row in found:
        target = str(row.kernel["target"])
        measured = _measured(row.path, target, program)
        if measured is None:
            continue
        number = int(re.sub(r"\D", "", target))
        shared = row.expected.shared + measured.static_shared
        block = BlockResources(row.expected.threads, measured.registers, shared, measured.barriers)
        cases.append((row, Case(number, block)))
    return cases


def occupancy_differences(found: list[tuple[Row, Case]], header: Path, program: Path) -> Iterator[str]:
    """Kernels whose resident blocks are not those of NVIDIA's calculator."""
    command = [sys.executable, "-m", "ptx_lsp", "--quiet", "--no-cache", "--format", "json"]
    command += [f"--ptxas={program}", *map(str, (row.path for row, _ in found))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for (row, case), answer, file in zip(
        found, answers(header, [case for _, case in found]), json.loads(done.stdout)["files"], strict=True
    ):
        (kernel,) = file["kernels"]
        known = kernel["occupancy"]
        if (known["blocks_per_sm"], known["registers"], known["registers_source"]) != (
            answer.blocks, case.block.registers_per_thread, "measured",
        ):  # fmt: skip
            yield f"{row.place}: occupancy is {known}, the header says {answer.blocks} blocks for {case}"


class _Measured(NamedTuple):
    registers: int
    barriers: int
    static_shared: int


def _measured(path: Path, target: str, program: Path) -> _Measured | None:
    """What ptxas says about the kernel of a file; None if it rejects it."""
    with tempfile.TemporaryDirectory() as place:
        command = [program, "-v", f"-arch={target}", "-o", Path(place, "out"), path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    counts = [re.search(rf"(\d+) {what}", done.stderr) for what in ("registers", "barriers", "bytes smem")]
    return _Measured(*(int(one[1]) if one is not None else 0 for one in counts))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--header", type=Path, help="cuda_occupancy.h or its folder")
    options = parser.parse_args()
    found = rows(options.folders)
    wrong = [line for row in found for line in differences(row)]
    print(f"{len(found)} kernels with metadata, {len(wrong)} differences")
    if options.header is not None:
        program = ptxas.find()
        if program is None:
            parser.error("--header needs ptxas")
        cases = occupancy_cases(found, program)
        others = list(occupancy_differences(cases, options.header, program))
        print(f"{len(cases)} occupancies, {len(others)} differences; ptxas rejects {len(found) - len(cases)}")
        wrong += others
    print(*wrong[:40], sep="\n", end="\n" if wrong else "")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
