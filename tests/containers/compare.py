"""Compares members with what cuobjdump extracts: `python -m tests.containers.compare FILE...`."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from ptx_lsp.containers.registry import open_container
from tests.containers.cuobjdump import extracted, run, tool


def main(paths: list[str]) -> int:
    """Prints a line per file. The status is 1 if any differs."""
    cuobjdump = tool("cuobjdump")
    assert cuobjdump, "needs cuobjdump"
    status = 0
    for path in paths:
        started = time.process_time()
        container = open_container(path)
        opened = time.process_time()
        assert container, f"{path}: of no known format"
        ours: dict[str, list[bytes]] = {}
        for one in container.members:
            ours.setdefault(one.target, []).append(one.read())
        seconds = time.process_time() - opened
        with tempfile.TemporaryDirectory() as folder:
            theirs = extracted(cuobjdump, _readable(Path(path), Path(folder)), ours)
        equal = ours == theirs
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        print(
            f"{path}: {'equal' if equal else 'DIFFERENT'}, {len(container.members)} members, "
            f"{sum(len(text) for texts in ours.values() for text in texts) / 1e6:.1f} MB, "
            f"opened in {opened - started:.3f} s, read in {seconds:.3f} s, peak {peak} MiB",
            *container.damage,
            sep="\n  ",
        )
        status |= not equal
    return status


def _readable(path: Path, folder: Path) -> Path:
    """The file, or for a Windows library, which cuobjdump cannot read here, its section."""
    with path.open("rb") as file:
        if file.read(2) != b"MZ":
            return path
    section = folder / f"{path.name}.fatbin"
    run(
        ["objcopy", "-O", "binary", "--only-section=.nv_fatb", str(path.resolve()), str(section)],
        folder,
    )
    return section


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
