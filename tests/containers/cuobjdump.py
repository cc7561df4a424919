"""NVIDIA's tools for fat binaries: `cuobjdump`, to compare with, and `fatbinary` and `nvcc`, to make some."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path

_EXTRACTED = re.compile(
    r"^Extracting PTX file and ptxas options +\d+: (\S+\.ptx) -arch=(\w+)", re.MULTILINE
)


def tool(name: str) -> str | None:
    """The path of a tool: that of the package from PyPI, or of the search path."""
    for folder in map(Path, sys.path):
        for found in folder.glob(f"nvidia/cu*/bin/{name}"):
            return str(found)
    return shutil.which(name)


def extracted(cuobjdump: str, path: Path, targets: Collection[str]) -> dict[str, list[bytes]]:
    """The PTX texts of a container by target, in order, as `cuobjdump -all -xptx all` writes them.

    It rejects files that have machine code for targets that it no longer knows, unless it is asked for one
    target at a time.
    """
    try:
        return _extracted(cuobjdump, path, ())
    except AssertionError:
        found: dict[str, list[bytes]] = {}
        for target in targets:
            found |= _extracted(cuobjdump, path, ("-arch", target))
        return found


def _extracted(cuobjdump: str, path: Path, options: Sequence[str]) -> dict[str, list[bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        output = run(
            [cuobjdump, "-all", *options, "-xptx", "all", str(path.resolve())], Path(folder)
        )
        listed = _EXTRACTED.findall(output)
        names = [name for name, _ in listed]
        # it names files after the identifier of an entry, and overwrites those of the same name
        assert len(set(names)) == len(names), f"{path}: cuobjdump has overwritten files"
        found: dict[str, list[bytes]] = {}
        for name, target in listed:
            found.setdefault(target, []).append((Path(folder) / name).read_bytes())
        return found


def run(command: Sequence[str], folder: Path) -> str:
    """The output of a command. Fails with what it wrote to standard error, if not for want of code."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    failed = done.returncode and "does not contain device code" not in done.stderr
    assert not failed, f"{' '.join(command)}: {done.stderr}"
    return done.stdout
