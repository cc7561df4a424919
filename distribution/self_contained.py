"""Builds one executable file with ptx-lsp and what it depends on, for CPython 3.11 to 3.14 on x86-64 Linux.

    python packaging/self_contained.py dist/ptx_lsp-*.whl dist/ptx-lsp.pex

The file runs `ptx-lint`; `PEX_SCRIPT=ptx-run ./ptx-lsp.pex` runs another command.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from packaging.tags import compatible_tags, cpython_tags

_VERSIONS = [(3, minor) for minor in range(11, 15)]
_GLIBC = range(17, 29)
"""The versions 2.N that wheels may require: 2.28 is that of the oldest systems with such a Python."""


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("wheel", type=Path)
    arguments.add_argument("output", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        platforms: list[str] = []
        for version in _VERSIONS:
            file = Path(folder, f"{version[1]}.json")
            file.write_text(json.dumps(_platform(version)), encoding="utf-8")
            platforms += ["--complete-platform", str(file)]
        command = [
            sys.executable, "-m", "pex", options.wheel, "--no-build", *platforms, "--script", "ptx-lint",
            "--venv", "--python-shebang", "/usr/bin/env python3", "--output-file", options.output,
        ]
        return subprocess.run(command, check=False).returncode


def _platform(version: tuple[int, int]) -> dict[str, object]:
    """A platform as Pex describes it: the tags of suitable wheels, the best first, and values of markers."""
    dotted = ".".join(map(str, version))
    return {
        "path": None,
        "compatible_tags": list(map(str, _tags(version))),
        "marker_environment": {
            "implementation_name": "cpython",
            "implementation_version": f"{dotted}.0",
            "os_name": "posix",
            "platform_machine": "x86_64",
            "platform_python_implementation": "CPython",
            "platform_system": "Linux",
            "python_full_version": f"{dotted}.0",
            "python_version": dotted,
            "sys_platform": "linux",
        },
    }


def _tags(version: tuple[int, int]) -> Iterator[object]:
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in reversed(_GLIBC)]
    platforms[-1:] += ["manylinux2014_x86_64", "linux_x86_64"]
    yield from cpython_tags(version, platforms=platforms)
    yield from compatible_tags(version, f"cp{version[0]}{version[1]}", platforms)


if __name__ == "__main__":
    sys.exit(main())
