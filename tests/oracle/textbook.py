"""Compiles the kernels of `tests/textbook` anew.

    python -m tests.oracle.textbook [--python PYTHON] [--clang CLANG]

`kernels.cu` is compiled by the nvcc beside ptxas, with several levels of optimisation and with each of its
mistakes, and by clang (`--clang`), without NVIDIA's headers. Those in Python are compiled by numba-cuda and
Triton, which need no GPU for that, where PYTHON has them. Of compilers that are not there, what is recorded
stays.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ptx_lsp import ptxas

FOLDER = Path(__file__).parent.parent / "textbook"
RECORDED = FOLDER / "ptx.tar.xz"
LEVELS = {
    "O3": ("-O3",), "O1": ("-Xcicc", "-O1"), "O0": ("-Xcicc", "-O0"), "G": ("-G",),
}  # nvcc's own -O0 to -O2 mean the host
MISTAKES = (1, 2, 3)
_MISTAKEN = ("O3", "G")
CLANG_LEVELS = ("O3", "O1", "O0")
_CLANG = (
    "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_80", "-nocudainc", "-nocudalib", "-std=c++14",
    "-fdeclspec", "-include", "clang.h", "-Xclang", "-target-feature", "-Xclang", "+ptx72", "-S",
)

_DEBUGGING = re.compile(r"(?m)^\s*\.(?:file|loc)\b.*\n|^\s*\.section\b[^{]*\{[^}]*\}")

_NUMBA = """
import sys; sys.path.insert(0, sys.argv[1])
import numba_kernels as kernels
from numba import cuda
for name, signature in kernels.SIGNATURES.items():
    text, _ = cuda.compile_ptx(getattr(kernels, name), signature, cc=(8, 0))
    with open(f"{sys.argv[1]}/{name}.ptx", "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
"""
_TRITON = """
import sys; sys.path.insert(0, sys.argv[1])
import triton
import triton_kernels as kernels
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
for name, (types, constants) in kernels.SIGNATURES.items():
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    source = ASTSource(fn=getattr(kernels, name), signature=signature, constexprs=constants)
    made = triton.compile(source, target=GPUTarget("cuda", 80, 32))
    with open(f"{sys.argv[1]}/{name}.ptx", "w") as file:
        file.write(made.asm["ptx"])
"""


def recorded() -> dict[str, str]:
    """The PTX of each file that was compiled, by its name."""
    with tarfile.open(RECORDED) as archive:
        return {
            member.name: content.read().decode()
            for member in archive
            if (content := archive.extractfile(member)) is not None
        }


def compiled(nvcc: Path) -> Iterator[tuple[str, str]]:
    """What nvcc makes of the kernels in CUDA."""
    for level, options in LEVELS.items():
        for mistake in (0, *(MISTAKES if level in _MISTAKEN else ())):
            name = f"nvcc.{level}.ptx" if not mistake else f"nvcc.{level}.bug{mistake}.ptx"
            with tempfile.TemporaryDirectory() as folder:
                made = Path(folder, name)
                command = [nvcc, "-ptx", "-arch=compute_80", f"-DBUG={mistake}", *options]
                subprocess.run([*command, "kernels.cu", "-o", made], check=True, cwd=FOLDER)
                yield name, made.read_text(encoding="utf-8")


def compiled_by_clang(clang: str) -> Iterator[tuple[str, str]]:
    """What clang makes of them."""
    for level in CLANG_LEVELS:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, f"clang.{level}.ptx")
            command = [clang, *_CLANG, f"-{level}", "kernels.cu", "-o", made]
            subprocess.run(command, check=True, cwd=FOLDER)
            yield made.name, made.read_text(encoding="utf-8")


def compiled_python(python: str, compiler: str, program: str) -> Iterator[tuple[str, str]]:
    """What a compiler of Python makes of its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        source = (FOLDER / f"{compiler}_kernels.py.txt").read_text(encoding="utf-8")
        Path(folder, f"{compiler}_kernels.py").write_text(source, encoding="utf-8")
        subprocess.run([python, "-c", program, folder], check=True)
        for made in sorted(Path(folder).glob("*.ptx")):
            yield made.name, made.read_text(encoding="utf-8")


def record(files: Mapping[str, str]) -> None:
    """Writes the files, without debugging data: that names the folders of a machine."""
    with tarfile.open(RECORDED, "w:xz") as archive:
        for name, text in sorted(files.items()):
            content = _DEBUGGING.sub("", text).replace(", debug", "").encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def main() -> int:
    """Writes what is recorded; 2 where there is no nvcc."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="one that has numba-cuda and Triton")
    parser.add_argument("--clang", help="a clang that compiles for NVPTX")
    options = parser.parse_args()
    judge = ptxas.find()
    nvcc = judge.with_name("nvcc") if judge is not None else None
    if nvcc is None or not nvcc.exists():
        print("textbook: no nvcc beside ptxas", file=sys.stderr)
        return 2
    files = recorded() if RECORDED.exists() else {}
    files.update(compiled(nvcc))
    if options.clang:
        files.update(compiled_by_clang(options.clang))
    if options.python:
        files.update(compiled_python(options.python, "numba", _NUMBA))
        files.update(compiled_python(options.python, "triton", _TRITON))
    record(files)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
