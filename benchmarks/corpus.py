"""The files of real compilers that the benchmarks read.

They are in a folder that is not part of the repository: the one that `PTX_CORPUS` names, else `shared/corpus`
beside the repository. It has the files, at any depth, or `ptx.tar.xz` with them. Without it, there are the
files of `tests/oracle/corpus`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_OWN = ROOT / "tests" / "oracle" / "corpus"
_ARCHIVE = "ptx.tar.xz"

NAMES = (
    # below 1 000 lines
    "clang/scan.sm_90.O2", "llvm/CodeGen_NVPTX_compare-int.2", "llvm/CodeGen_NVPTX_rotate.2",
    "numba/axpy_f64.sm100", "numba/dev.sm80.dbg", "nvcc130/scan.sm75.O3", "nvcc130/vecadd.sm90.O3",
    "nvcc135/vecadd.sm100a", "tinygrad/mm_f16_0.sm_89", "tinygrad/softmax_0.sm_90", "triton/add_f32.sm90",
    "triton/softmax_8192.sm120",
    # 1 000 to 5 000
    "clang/halfs.sm_75.O0", "clang/matmul.sm_90.O2", "clang/softmax.sm_75.O0", "clang/softmax.sm_80.O1g",
    "cub/cub_block.sm90", "cub/cub_hist.sm100", "llvm/CodeGen_NVPTX_i8x4-instructions.1",
    "llvm/CodeGen_NVPTX_param-load-store.1", "numba/axpy_f32.sm80.dbg", "numba/mm.sm80.dbg",
    "nvcc130/control.sm90.G", "nvcc130/control.sm90.O3", "nvcc130/matmul.sm80.lineinfo",
    "nvcc130/softmax.sm75.O3", "nvcc135/bitonic.sm120", "nvcc135/matmul.sm100a",
    "triton/matmul_f16_128x128x64.sm80", "triton/matmul_f16_128x128x64.sm90",
    "triton/matmul_f16_64x64x32.sm75",
    # 5 000 and more: all that there are
    "cub/cub_hist.sm75", "cub/cub_hist.sm80", "cub/cub_hist.sm90", "cub/cub_select.sm75",
    "cub/cub_select.sm80", "cub/cub_select.sm90", "cub/cub_select.sm100", "cub/thrust_merge.sm75",
    "cub/thrust_merge.sm80", "cub/thrust_merge.sm90", "cub/thrust_merge.sm100",
    "llvm/CodeGen_NVPTX_wmma-ptx61-sm70.1", "llvm/CodeGen_NVPTX_wmma-ptx63-sm72.1",
    "llvm/CodeGen_NVPTX_wmma-ptx65-sm75.1", "llvm/CodeGen_NVPTX_wmma-ptx71-sm80.1",
    "nvcc130/reduce.sm90.G", "nvcc130/softmax.sm90.G", "triton/matmul_f16_128x128x64.sm75",
)  # fmt: skip
"""Files of each compiler and size, without `.ptx`."""


def default_folder() -> Path:
    """Where the corpus should be."""
    return Path(os.environ.get("PTX_CORPUS") or ROOT.parent / "shared" / "corpus")


def all_files(folder: Path, scratch: Path) -> dict[str, Path]:
    """All files of the corpus by name, such as `clang/scan.sm_90.O2`; none if there is no corpus. An archive
    is unpacked into `scratch`.
    """
    if (folder / _ARCHIVE).is_file():
        # in a process of its own: no child is reported to use less memory than this one has used
        unpack = [sys.executable, "-m", "tarfile", "--extract", str(folder / _ARCHIVE), str(scratch)]
        subprocess.run(unpack, check=True)
        folder = scratch
    return _below(folder)


def own_files() -> dict[str, Path]:
    """The files of the repository by name."""
    return _below(_OWN)


def _below(folder: Path) -> dict[str, Path]:
    return {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.ptx"))
    }
