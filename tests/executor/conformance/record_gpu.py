"""Records what a GPU answers to every line of tests/conformance.

    make record-gpu        (or: python -m tests.executor.conformance.record_gpu)

The answers go to tests/conformance/gpu, a file for each GPU: lines as in tests/conformance, all numbers as
bits, with the device as their source; and in a file `.kernels`, what each kernel of tests/conformance/kernels
left in its buffers. Lines that its architecture or driver does not know are told of and
left out.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ptx_lsp.executor.launching.instruction_harness import (
    HEADER,
    InstructionHarness,
    instruction_harness,
)
from ptx_lsp.executor.launching.object_specs import Object
from ptx_lsp.executor.launching.specs import Value
from ptx_lsp.executor.machine.texture import Opaque
from tests.executor.conformance.conformance_kernel import KERNELS, Launch, launches
from tests.executor.conformance.cuda import CudaError, Description, Gpu
from tests.executor.conformance.lines import FOLDER, Line, lines

ANSWERS = FOLDER / "gpu"


class Device(Protocol):
    """What runs kernels: a GPU, or in tests the executor."""

    @property
    def description(self) -> Description: ...
    def run(self, kernel: InstructionHarness) -> list[tuple[int, ...]]: ...
    def launch(
        self, text: str, entry: str, grid: Sequence[int], block: Sequence[int],
        arguments: Sequence[Value | Object],
        shared_bytes: int = 0, cluster: Sequence[int] = (), bind: Mapping[str, Opaque] | None = None,
    ) -> None: ...


def main() -> int:
    """Records the answers of the GPU; 2 where there is none."""
    try:
        gpu = Gpu()
    except CudaError as error:
        print(f"record-gpu: {error}; a CUDA GPU is needed to record its answers", file=sys.stderr)
        return 2
    path, refused = record(gpu, ANSWERS)
    refused += record_kernels(gpu, path.with_suffix(".kernels"))
    for place, why in refused:
        print(f"{place}: {why}")
    print(f"{gpu.description}: {path}, {len(refused)} kernels refused")
    return 0


def record(
    device: Device, folder: Path, paths: Sequence[Path] | None = None
) -> tuple[Path, list[tuple[str, str]]]:
    """Writes the answers of a device to all lines of files; the file, and what it refused and why."""
    described = device.description
    answers: list[str] = [f"# {described}"]
    refused: list[tuple[str, str]] = []
    for group, kernel in kernels(described.header, paths):
        try:
            found = device.run(kernel)
        except CudaError as error:
            refused.append((f"{group[0].place} {group[0].spelling}", str(error)))
            continue
        answers += [_answer(line, row, described) for line, row in zip(group, found, strict=True)]
    folder.mkdir(exist_ok=True)
    name = "".join(one if one.isalnum() else "_" for one in described.name.lower())
    path = folder / f"{name}.txt"
    path.write_text("\n".join(answers) + "\n", encoding="utf-8")
    return path, refused


def record_kernels(
    device: Device, path: Path, paths: Sequence[Path] | None = None
) -> list[tuple[str, str]]:
    """Writes what the kernels of files (None: all of tests/conformance/kernels) give on a device; what it
    refused and why.
    """
    answers = [f"# {device.description}"]
    refused: list[tuple[str, str]] = []
    for file in sorted(KERNELS.glob("*.ptx")) if paths is None else paths:
        for name, one in _named(file):
            arguments, bind, comment = one.arguments(), one.bind(), one.comment
            if one.unrecorded:
                refused.append((f"{one.place} {comment.entry}", one.unrecorded))
                continue
            try:
                device.launch(
                    one.text, comment.entry, comment.grid, comment.block, arguments, comment.shared_bytes,
                    comment.cluster, bind,
                )
            except CudaError as error:
                refused.append((f"{one.place} {comment.entry}", str(error)))
                continue
            for wanted, found in zip(one.expected, one.results([*arguments, *bind.values()]), strict=True):
                answers.append(f"{name} {wanted.name}={','.join(map(hex, found))}")
    path.write_text("\n".join(answers) + "\n", encoding="utf-8")
    return refused


def differing(path: Path) -> list[str]:
    """Where recorded buffers are not what the kernels' comments expect."""
    wanted = {
        f"{name} {buffer.name}": ",".join(map(hex, buffer.bits))
        for file in sorted(KERNELS.glob("*.ptx")) for name, one in _named(file) for buffer in one.expected
    }
    wrong: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        name, equals, found = line.partition("=")
        if equals and not line.startswith("#") and name in wanted and found != wanted[name]:
            wrong.append(f"{name}: {found} on the GPU, and {wanted[name]} is expected")
    return wrong


def _named(file: Path) -> Iterator[tuple[str, Launch]]:
    """The launches of a file, each with a name: the second one of a kernel has `:2` behind it."""
    seen: Counter[str] = Counter()
    for one in launches(file):
        entry = one.comment.entry
        seen[entry] += 1
        yield f"{file.name} {entry}" + (f":{seen[entry]}" if seen[entry] > 1 else ""), one


def kernels(
    header: str = HEADER, paths: Sequence[Path] | None = None
) -> Iterator[tuple[list[Line], InstructionHarness]]:
    """A kernel for all lines of one spelling with the same constants, all files (None: of tests/conformance)
    together.
    """
    groups: defaultdict[tuple[object, ...], list[Line]] = defaultdict(list)
    for path in sorted(FOLDER.glob("*.txt")) if paths is None else paths:
        for line in lines(path):
            constants = tuple(
                value for value, type in zip(line.operands, line.types, strict=True) if type == "#"
            )
            groups[line.spelling, line.types, line.result_types, constants].append(line)
    for group in groups.values():
        first = group[0]
        rows = [line.operands for line in group]
        yield group, instruction_harness(first.spelling, rows, first.types, first.result_types, header)


def _answer(line: Line, row: tuple[int, ...], described: Description) -> str:
    operands = ", ".join(hex(one) if one >= 0 else str(one) for one in line.operands)
    results = ", ".join(map(hex, row))
    return f"{line.spelling}  {operands} -> {results}  # gpu {described}"


if __name__ == "__main__":
    sys.exit(main())
