"""What ptxas and nvdisasm say of one PTX file, as a record of `truth.jsonl`."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, TypedDict

from ptx_lsp import ptxas
from tests.oracle.registers.kernel_texts import digests
from tests.oracle.registers.machine_code import MachineCode, disassembled


class Kernel(TypedDict, total=False):
    """The figures of a kernel; those of the machine code are missing where nvdisasm fails."""

    registers: int
    barriers: int
    smem: int
    stack: int
    spill_stores: int
    spill_loads: int
    cumstack: int
    sass_peak: int
    uniform_peak: int
    predicate_peak: int
    uniform_predicate_peak: int
    sass_instructions: int
    sass_loops: int
    sass_calls: int
    digest: str


class Record(TypedDict):
    """A line of `truth.jsonl`: a file, where it comes from, and its kernels."""

    file: str
    arch: str
    accepted: bool
    program: str
    repository: str
    compiler: str
    opt: str
    kernels: dict[str, Kernel]


class Tools(NamedTuple):
    """NVIDIA's programs."""

    ptxas: Path
    nvdisasm: str


class NoFiguresError(Exception):
    """No figures are to be had; the text is the cause, one of few."""


def figures(text: str, arch: str, tools: Tools, timeout_s: float = 60) -> dict[str, Kernel]:
    """The figures of the kernels of a PTX text for `arch`. Raises NoFiguresError."""
    with tempfile.TemporaryDirectory(prefix="registers-") as folder:
        Path(folder, ptxas.INPUT).write_text(text)
        report = _compiled(folder, arch, tools, timeout_s)
        try:
            code = disassembled(Path(folder, "cubin"), tools.nvdisasm, timeout_s)
        except (OSError, subprocess.SubprocessError):
            code = dict[str, MachineCode]()
    known = digests(text)
    return {
        name: _kernel(resources, known[name], code.get(name))
        for name, resources in report.kernels.items()
        if resources.registers and name in known
    }


def _compiled(folder: str, arch: str, tools: Tools, timeout_s: float) -> ptxas.Report:
    runs = ptxas.judging(tools.ptxas, arch, output="cubin")
    options = next(runs)
    end = time.monotonic() + timeout_s
    while True:
        if "-c" in options:
            raise NoFiguresError("calls functions of other files")
        command = [str(tools.ptxas), *options]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=max(1, end - time.monotonic()),
                text=True,
                check=False,
            )
            options = runs.send(ptxas.Outcome(done.returncode, done.stdout))
        except subprocess.TimeoutExpired:
            raise NoFiguresError("ptxas takes too long") from None
        except ptxas.PtxasError:
            raise NoFiguresError("ptxas fails") from None
        except StopIteration as ended:
            report: ptxas.Report = ended.value
            if not report.accepted:
                raise NoFiguresError("ptxas rejects") from None
            return report


def _kernel(resources: ptxas.Resources, digest: str, code: MachineCode | None) -> Kernel:
    found = Kernel(
        registers=resources.registers or 0,
        barriers=resources.barriers or 0,
        smem=resources.shared_bytes or 0,
        stack=resources.stack_bytes or 0,
        spill_stores=resources.spill_store_bytes or 0,
        spill_loads=resources.spill_load_bytes or 0,
        cumstack=resources.cumulative_stack_bytes or 0,
        digest=digest,
    )
    if code is not None:
        found["sass_peak"] = code.peaks.get("GPR", 0)
        found["uniform_peak"] = code.peaks.get("UGPR", 0)
        found["predicate_peak"] = code.peaks.get("PRED", 0)
        found["uniform_predicate_peak"] = code.peaks.get("UPRED", 0)
        found["sass_instructions"] = code.instructions
        found["sass_loops"] = code.loops
        found["sass_calls"] = code.calls
    return found
