"""`ptx-run --expect` compares buffers with files and SPECs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.cli.run import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "saxpy.ptx"
LAUNCH = [
    str(EXAMPLE), "--grid", "1", "--block", "32", "--arg", "u32:4", "--arg", "f32:2",
    "--arg", "f32[]:1,2,3,4", "--arg", "f32[]:ones:4",
]
RESULT = [3, 5, 7, 9]


@pytest.mark.parametrize(
    ("expected", "more", "status"),
    [
        ("3=f32[]:3,5,7,9", [], 0),
        ("saxpy_y=f32[]:3,5,7,9", [], 0),
        ("3=f32[]:3,5,7,10", [], 1),
        ("3=f32[]:3,5,7,10", ["--rtol", "0.1"], 0),
        ("3=f32[]:3,5,7,10", ["--atol", "1"], 0),
        ("3=f32[]:3,5,7,10", ["--atol", "0.5"], 1),
        ("3=f32[]:3,5,7,nan", ["--rtol", "9"], 1),
        ("3=f32[]:3,5,7,inf", ["--rtol", "9"], 1),
        ("3=f32[]:3,5,7", [], 2),
        ("3=u32[]:3,5,7,9", [], 2),
        ("1=f32[]:3", [], 2),
        ("3", [], 2),
        ("3=none.npy", [], 2),
        ("3=f32[]:3,5,7,9", ["--rtol", "-1"], 2),
    ],
)
def test_status(expected: str, more: list[str], status: int) -> None:
    assert main([*LAUNCH, "--expect", expected, *more]) == status


def test_files(tmp_path: Path) -> None:
    good, bad, several = tmp_path / "good.npy", tmp_path / "bad.npy", tmp_path / "several.npz"
    np.save(good, np.array(RESULT, np.float32))
    np.save(bad, np.array([3, 6, 7, 10], np.float32))
    np.savez(several, y=np.array([RESULT], np.float32))
    assert main([*LAUNCH, "--expect", f"3={good}"]) == 0
    assert main([*LAUNCH, "--expect", f"3=@{good}"]) == 0
    assert main([*LAUNCH, "--expect", f"3={several}:y"]) == 0, "shapes do not matter"
    assert main([*LAUNCH, "--expect", f"3={good}", "--expect", f"saxpy_y={bad}"]) == 1


def test_message(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("ref.npy", np.array([3, 6, 7, 10], np.float32))
    assert main([*LAUNCH, "--expect", "3=ref.npy"]) == 1
    assert capsys.readouterr().err == (
        f"{EXAMPLE}: error[expect] `saxpy_y`: 2 of 4 elements differ from `ref.npy`; the first is [1]: 5.0, "
        "expected 6.0 (largest difference 1)\n"
    )
    assert main([*LAUNCH, "--expect", "3=ref.npy", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == "done"
    assert report["differences"] == [{
        "name": "saxpy_y", "source": "ref.npy", "count": 2, "of": 4, "first": 1, "value": "5.0",
        "expected": "6.0", "largest": 1.0,
    }]


def test_integers_are_compared_exactly(tmp_path: Path) -> None:
    """A double cannot tell these apart."""
    kernel = tmp_path / "k.ptx"
    kernel.write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a)\n{\n.reg .b64 %r<2>;\n"
        "ld.param.u64 %r0, [a];\nmov.u64 %r1, 0x4000000000000001;\nst.global.u64 [%r0], %r1;\nret;\n}\n"
    )
    words = [str(kernel), "--grid", "1", "--block", "1", "--arg", "u64[]:zeros:1"]
    assert main([*words, "--expect", f"0=u64[]:{2**62 + 1}"]) == 0
    assert main([*words, "--expect", f"0=u64[]:{2**62}"]) == 1


def test_a_kernel_that_fails_is_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*LAUNCH[:-3], "f32[]:1,2", *LAUNCH[-2:]]
    assert main([*words, "--expect", "3=f32[]:1,1,1,1"]) == 1
    assert "error[expect]" not in capsys.readouterr().err
