"""The registers of a kernel, by ptxas."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp import ptxas
from ptx_lsp.cli.launching.request import Request
from ptx_lsp.executor.launching.specs import SpecError

_MISSING = (
    "ptxas was not found on PATH, in CUDA_HOME or CUDA_PATH, or in the package nvidia-cuda-nvcc; use "
    "--ptxas=PATH"
)


def measured_registers(request: Request, program: str) -> int:
    """The registers of a thread; 0 if ptxas does not report them. `program` is the path of ptxas, "" for the
    one that is found. Raises SpecError if it cannot be run or rejects the file.
    """
    try:
        found = ptxas.find(Path(program) if program else None)
        if found is None:
            raise SpecError(_MISSING)
        report = ptxas.judge(request.source.encode(), ptxas=found, arch=request.device)
    except ptxas.PtxasError as error:
        raise SpecError(str(error)) from error
    if not report.accepted:
        first = next((one for one in report.messages if one.severity in ("error", "fatal")), None)
        text = "" if first is None else f": {first.text}" + (f" (line {first.line})" if first.line else "")
        raise SpecError(f"ptxas rejects `{request.path}`{text}")
    resources = report.kernels.get(request.entry)
    return 0 if resources is None else resources.registers or 0
