"""The command `ptx-run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.cli.run import main

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy.ptx")
LAUNCH = [SAXPY, "--entry", "saxpy", "--grid", "1", "--block", "32"]


def test_prints_a_buffer(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["u32:4", "f32:2", "f32[]:1,2,3,4", "f32[]:ones:4"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec)), "--out", "3"])
    assert (status, capsys.readouterr().out) == (0, "3: [3., 5., 7., 9.]\n")


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(8, dtype=np.float32))
    out = tmp_path / "y.npy"
    arguments = ["u32:8", "f32:0.5", f"@{tmp_path / 'x.npy'}", "f32[]:zeros:8"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec)), "--out", f"3={out}"])
    assert status == 0
    assert np.array_equal(np.load(out), np.arange(8, dtype=np.float32) / 2)


def test_a_failure_names_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["u32:9", "f32:2", "f32[]:zeros:4", "f32[]:zeros:4"]
    status = main([*LAUNCH, *(word for spec in arguments for word in ("--arg", spec))])
    error = capsys.readouterr().err
    assert status == 1
    assert error.startswith(f"{SAXPY}:35: error[out-of-bounds] ")
    assert "block (0, 0, 0), thread (4, 0, 0), and 4 more" in error


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("u33:1", "types are"),
        ("u8:256", "256 does not fit"),
        ("f32[]:squares:3", "`squares` is none of"),
        ("u32", "TYPE:VALUE"),
        ("@nowhere.npy", "nowhere.npy"),
    ],
)
def test_wrong_arguments(spec: str, part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, "--arg", spec]) == 2
    assert part in capsys.readouterr().err


@pytest.mark.parametrize("grid", ["0", "1,2,3,4", "x"])
def test_wrong_sizes(grid: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([SAXPY, "--entry", "saxpy", "--grid", grid, "--block", "1"]) == 2
    assert "--grid" in capsys.readouterr().err


def test_wrong_number_of_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LAUNCH, "--arg", "u32:1"]) == 2
    assert "`saxpy` takes 4 arguments, not 1" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["lint", "run"])
def test_starts_without_numpy(command: str) -> None:
    code = (
        f"import sys; from ptx_lsp.cli.{command} import main; main(['--version']);"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_linting_needs_no_numpy() -> None:
    code = (
        f"import sys; from ptx_lsp.cli.lint import main; main(['--jobs', '1', {SAXPY!r}]);"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
