"""Makes the kernels `exact_*.ptx` of tests/conformance/kernels: products of telling matrices.

    python -m tests.oracle.exact.matrix      writes them anew

What a kernel must give is computed with whole numbers from the layouts of the manual, written down a second
time (fragments.py), never by the executor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.executor.conformance.conformance_kernel import KERNELS
from tests.oracle.exact import mma as exact_mma
from tests.oracle.exact import mma_doubles as exact_mma_doubles
from tests.oracle.exact import mma_scaled as exact_mma_scaled
from tests.oracle.exact import mma_sparse as exact_mma_sparse
from tests.oracle.exact import moves as exact_moves
from tests.oracle.exact import sparse as exact_sparse
from tests.oracle.exact import tensor_mma as exact_tensor_mma
from tests.oracle.exact import tensor_moves as exact_tensor_moves
from tests.oracle.exact import wgmma as exact_wgmma
from tests.oracle.exact import wmma as exact_wmma
from tests.oracle.exact.kernel import Kernel


class File(NamedTuple):
    """A file: its name, what it is about, the PTX version and target that it needs, and its kernels."""

    name: str
    title: str
    version: str
    target: str
    kernels: Callable[[], Iterable[Kernel]]

    @property
    def path(self) -> str:
        return f"exact_{self.name}.ptx"

    def text(self) -> str:
        head = (
            f"// Made by `python -m tests.oracle.exact.matrix`: {self.title}.\n"
            f".version {self.version}\n.target {self.target}\n.address_size 64\n"
        )
        return "\n".join([head, *(kernel.text() for kernel in self.kernels())])


FILES = (
    File("mma_floats", "mma of floats of 16 and 32 bits", "7.8", "sm_80", exact_mma.floats),
    File("mma_fp8", "mma of floats of 8 bits", "8.7", "sm_89", exact_mma.bytes_of_floats),
    File("mma_s8", "mma of integers of 8 bits", "7.8", "sm_80", lambda: exact_mma.integers(8)),
    File("mma_s4", "mma of integers of 4 bits", "7.8", "sm_80", lambda: exact_mma.integers(4)),
    File("mma_b1", "mma of single bits", "7.8", "sm_80", exact_mma.single_bits),
    File("mma_f64", "mma of .f64", "7.8", "sm_90", exact_mma_doubles.doubles),
    File(
        "mma_sp_floats",
        "mma.sp of floats of 16 and 32 bits",
        "8.5",
        "sm_80",
        exact_mma_sparse.floats,
    ),
    File(
        "mma_sp_fp8", "mma.sp of floats of 8 bits", "8.7", "sm_89", exact_mma_sparse.bytes_of_floats
    ),
    File(
        "mma_sp_s8",
        "mma.sp of integers of 8 bits",
        "8.5",
        "sm_80",
        lambda: exact_mma_sparse.integers(8),
    ),
    File(
        "mma_sp_s4",
        "mma.sp of integers of 4 bits",
        "8.5",
        "sm_80",
        lambda: exact_mma_sparse.integers(4),
    ),
    File("mma_sp_kinds", "mma.sp with .kind::f8f6f4", "8.8", "sm_120a", exact_mma_sparse.kinds),
    File("mma_kinds", "mma with .kind::f8f6f4", "8.8", "sm_120a", exact_mma_scaled.kinds),
    File("mma_scaled", "mma with block scales", "9.1", "sm_120a", exact_mma_scaled.dense),
    File("mma_sp_scaled", "mma.sp with block scales", "9.1", "sm_120a", exact_mma_scaled.sparse),
    File("wmma_halves", "wmma of floats of 16 bits", "7.8", "sm_80", exact_wmma.halves),
    File("wmma_floats", "wmma of .tf32 and .f64", "7.8", "sm_80", exact_wmma.floats),
    File("wmma_s8", "wmma of integers of 8 bits", "7.8", "sm_80", exact_wmma.whole_bytes),
    File(
        "wmma_s4",
        "wmma of integers of 4 bits and single bits",
        "7.8",
        "sm_80",
        exact_wmma.parts_of_bytes,
    ),
    File("wgmma_f16", "wgmma of .f16", "8.5", "sm_90a", exact_wgmma.halves),
    File("wgmma_floats", "wgmma of .bf16 and .tf32", "8.5", "sm_90a", exact_wgmma.floats),
    File("wgmma_fp8", "wgmma of floats of 8 bits", "8.5", "sm_90a", exact_wgmma.bytes_of_floats),
    File(
        "wgmma_integers", "wgmma of integers and single bits", "8.5", "sm_90a", exact_wgmma.integers
    ),
    File("wgmma_sp_f16", "wgmma.sp of .f16", "8.5", "sm_90a", exact_wgmma.sparse_halves),
    File(
        "wgmma_sp_floats", "wgmma.sp of .bf16 and .tf32", "8.5", "sm_90a", exact_wgmma.sparse_floats
    ),
    File(
        "wgmma_sp_fp8",
        "wgmma.sp of floats of 8 bits",
        "8.5",
        "sm_90a",
        exact_wgmma.sparse_bytes_of_floats,
    ),
    File("wgmma_sp_s8", "wgmma.sp of integers", "8.5", "sm_90a", exact_wgmma.sparse_integers),
    File("matrix_moves", "ldmatrix and stmatrix of 16 bits", "7.8", "sm_90", exact_moves.halves),
    File(
        "matrix_bytes",
        "ldmatrix and stmatrix of bytes",
        "9.4",
        "sm_120a",
        exact_moves.bytes_of_matrices,
    ),
    File("tensor_shapes", "tcgen05.ld and st in every shape", "9.0", "sm_100a", exact_tensor_moves.shapes),
    File("tensor_reductions", "tcgen05.ld.red", "9.0", "sm_103a", exact_tensor_moves.reductions),
    File("tensor_copies", "tcgen05.cp in every shape", "9.0", "sm_100a", exact_tensor_moves.copies),
    File("tensor_shift", "tcgen05.shift", "9.0", "sm_100a", exact_tensor_moves.shifts),
    File("tensor_commit", "tcgen05.commit", "9.4", "sm_107a", exact_tensor_moves.commits),
    File("tensor_floats", "tcgen05.mma of .f16, .bf16 and .tf32", "9.0", "sm_100a", exact_tensor_mma.floats),
    File("tensor_bytes", "tcgen05.mma of bytes", "9.0", "sm_100a", exact_tensor_mma.bytes_of_numbers),
    File("tensor_scaled", "tcgen05.mma with block scales", "9.0", "sm_100a", exact_tensor_mma.scaled),
    File("tensor_sparse", "tcgen05.mma.sp", "9.0", "sm_100a", exact_tensor_mma.sparse),
    File("tensor_ws", "tcgen05.mma.ws", "9.0", "sm_100a", exact_tensor_mma.stationary),
    File("spcompress", "spcompress of every type", "9.4", "sm_107a", exact_sparse.compressed),
    File(
        "spdecompress", "spdecompress by every factor", "9.4", "sm_107a", exact_sparse.decompressed
    ),
)


def main() -> None:
    for file in FILES:
        text = file.text()
        (KERNELS / file.path).write_text(text, encoding="utf-8")
        print(
            f"{file.path}: {text.count('.visible .entry')} kernels, {text.count('// expect:')} results"
        )


if __name__ == "__main__":
    main()
