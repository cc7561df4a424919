"""Makes the containers in `data/` with NVIDIA's tools: `python -m tests.containers.make`.

`data/members.json` has the names and the hashes of the PTX texts that cuobjdump extracts from each.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from tests.containers.cuobjdump import extracted_in_order, run, tool

DATA = Path(__file__).with_name("data")
MEMBERS = DATA / "members.json"
EXAMPLES = Path(__file__).parents[2] / "examples"
MODES = ("default", "size", "speed", "balance", "none")
_TOOLS = ("fatbinary", "cuobjdump", "ptxas", "nvcc", "gcc", "ar", "strip")
_PTX = ".version 8.8\n.target {target}\n.address_size 64\n.visible .entry empty() {{ ret; }}\n"
_CUDA = """
extern "C" __global__ void {name}(int *p) {{ p[threadIdx.x] {operator}= 3; }}
"""
_TARGETS = (
    "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]",
    "-gencode", "arch=compute_100f,code=compute_100f",
)  # fmt: skip


class Tools:
    """The tools that make containers, and the folder that they work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths = {name: found for name in _TOOLS if (found := tool(name))}

    @property
    def missing(self) -> list[str]:
        return [name for name in _TOOLS if name not in self._paths]

    def run(self, name: str, *arguments: str) -> str:
        """The output of a tool."""
        return run([self._paths[name], *arguments], self.folder)

    def write(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        return name


def make(tools: Tools) -> Iterator[str]:
    """Makes one container after the other in the folder, and yields their names."""
    yield from _fat_binaries(tools)
    yield from _of_nvcc(tools)


def _fat_binaries(tools: Tools) -> Iterator[str]:
    plain = tools.write("plain.ptx", _PTX.format(target="sm_90"))
    family = tools.write("family.ptx", _PTX.format(target="sm_100f"))
    saxpy = shutil.copy(EXAMPLES / "saxpy.ptx", tools.folder)
    tools.run("ptxas", "-arch=sm_90", plain, "-o", "machine.cubin")
    yield "machine.cubin"
    images = (
        f"--image3=kind=ptx,sm=80,file={saxpy}",
        "--image3=kind=elf,sm=90,file=machine.cubin",
        f"--image3=kind=ptx,sm=90,file={plain}",
        f"--image3=kind=ptx,sm=100f,file={family}",
    )
    for mode in MODES:
        tools.run("fatbinary", "-64", f"--compress-mode={mode}", f"--create={mode}.fatbin", *images)
        yield f"{mode}.fatbin"
    for mode in ("size", "speed"):
        name = f"together_{mode}.fatbin"
        tools.run(
            "fatbinary",
            "-64",
            "--concat",
            f"--compress-mode={mode}",
            "-cmdline=-O1 -v",
            f"--create={name}",
            *images,
        )
        yield name
    tools.run(
        "fatbinary",
        "-64",
        "-g",
        "-ident=saxpy.cu",
        "-cmdline=-O1 -v",
        "--create=named.fatbin",
        images[0],
    )
    yield "named.fatbin"
    tools.run("fatbinary", "-64", "--create=machine.fatbin", images[1])
    yield "machine.fatbin"
    padded = (bytes(40)).join(
        (tools.folder / f"{mode}.fatbin").read_bytes() for mode in ("speed", "none")
    )
    (tools.folder / "padded.fatbin").write_bytes(padded)
    yield "padded.fatbin"


def _of_nvcc(tools: Tools) -> Iterator[str]:
    add, times = (
        tools.write(f"{name}.cu", _CUDA.format(name=name, operator=operator))
        for name, operator in (("add", "+"), ("times", "*"))
    )
    lto = "arch=compute_90,code=[lto_90,compute_90]"
    for source, output, options in (
        (add, "add.o", (*_TARGETS, "-c")),
        (times, "times.o", (*_TARGETS, "-dc")),
        (add, "lto.o", ("-gencode", lto, "-dc")),
    ):
        tools.run("nvcc", "-Xcompiler", "-fPIC,-g0", *options, source, "-o", output)
        tools.run("strip", "--strip-unneeded", output)  # names of temporary files
        yield output
    tools.run("gcc", "-shared", "-s", "-nostdlib", "times.o", "add.o", "-o", "libboth.so.1")
    yield "libboth.so.1"
    tools.write("host.c", "int host;")
    tools.run("gcc", "-c", "-fPIC", "host.c", "-o", "host.o")
    long = "a_name_of_more_than_sixteen_bytes.o"
    shutil.copy(tools.folder / "add.o", tools.folder / long)
    tools.run("ar", "crsD", "libboth.a", "host.o", "times.o", long)
    yield "libboth.a"


def expectations(tools: Tools, name: str) -> list[tuple[str, str]]:
    """The names and hashes of the members of a container, as cuobjdump has them."""
    found = extracted_in_order(tool("cuobjdump") or "", tools.folder / name)
    return [(member, sha256(text).hexdigest()) for member, text in found]


def main() -> int:
    """Makes all containers anew."""
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(Path(folder))
        if tools.missing:
            sys.exit(f"needs {', '.join(tools.missing)}")
        names = list(make(tools))
        shutil.rmtree(DATA, ignore_errors=True)
        DATA.mkdir()
        for name in names:
            shutil.copy(tools.folder / name, DATA)
        found = {name: dict(expectations(tools, name)) for name in names}
    MEMBERS.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
