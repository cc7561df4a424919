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
    r"^Extracting PTX file and ptxas options +(\d+): (\S+\.ptx) -arch=(\w+)", re.MULTILINE
)


def tool(name: str) -> str | None:
    """The path of a tool: that of the package from PyPI, or of the search path."""
    for folder in map(Path, sys.path):
        for found in folder.glob(f"nvidia/cu[0-9]*/bin/{name}"):
            return str(found)
    return shutil.which(name)


def extracted(cuobjdump: str, path: Path, targets: Collection[str]) -> dict[str, list[bytes]]:
    """The PTX texts of a container by target, in order, as `cuobjdump -all -xptx all` writes them.

    It rejects files that have machine code for targets that it no longer knows, unless it is asked for one
    target at a time.
    """
    try:
        found = extracted_in_order(cuobjdump, path)
    except AssertionError:
        found = [
            one
            for target in targets
            for one in extracted_in_order(cuobjdump, path, "-arch", target)
        ]
    texts: dict[str, list[bytes]] = {}
    for name, text in found:
        texts.setdefault(name.partition(":")[2], []).append(text)
    return texts


def extracted_in_order(cuobjdump: str, path: Path, *options: str) -> list[tuple[str, bytes]]:
    """The PTX texts, each with the name of its member."""
    with tempfile.TemporaryDirectory() as folder:
        output = run(
            [cuobjdump, "-all", *options, "-xptx", "all", str(path.resolve())], Path(folder)
        )
        listed = _EXTRACTED.findall(output)
        # it names files after the identifier of an entry, and overwrites those of the same name
        assert len({file for _, file, _ in listed}) == len(listed), (
            f"{path}: cuobjdump has overwritten files"
        )
        return [
            (f"{number}:{target}", (Path(folder) / file).read_bytes())
            for number, file, target in listed
        ]


def run(command: Sequence[str], folder: Path) -> str:
    """The output of a command. Fails with what it wrote to standard error, if not for want of code."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    failed = done.returncode and "does not contain device code" not in done.stderr
    assert not failed, f"{' '.join(command)}: {done.stderr}"
    return done.stdout
