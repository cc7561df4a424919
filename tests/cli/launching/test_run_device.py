"""`ptx-run` checks a launch as a device does, and has the output of kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from ptx_lsp.cli.run import main

KERNELS = Path(__file__).parents[2] / "executor" / "kernels"
VALID = [str(KERNELS / "nvcc_cooperative.ptx"), "--entry", "valid", "--block", "64", "--out", "0"]
PRINTS = [
    str(KERNELS / "nvcc_runtime.ptx"), "--entry", "threads", "--grid", "1", "--block", "1", "--arg", "s32:9",
]
WIDE = "".join(f"ld.volatile.global.u32 %r{at}, [%a+{4 * at}];\n" for at in range(200)) + "".join(
    f"st.volatile.global.u32 [%a+{4 * at}], %r{at};\n" for at in range(200)
)
MANY_REGISTERS = f""".version 8.0
.target sm_90
.address_size 64
.entry k(.param .u64 p) {{
.reg .b64 %a; .reg .b32 %r<200>;
ld.param.u64 %a, [p];
{WIDE}ret;
}}
"""


@pytest.mark.parametrize(("options", "status", "words"), [
    (["--grid", "4", "--device", "sm_120"], 0, ""),
    (["--grid", "4", "--device", "sm_86"], 2, "which sm_86 cannot run (CUDA_ERROR_NO_BINARY_FOR_GPU)"),
    (["--grid", "4", "--device", "gpu"], 2, "no device `gpu` is known"),
    (["--grid", "9999"], 2, "(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)"),
    (["--grid", "9999", "--no-cooperative"], 0, ""),
    (["--grid", "2", "--shared", "200000", "--device", "sm_121"], 2, "exceed the 101376"),
])
def test_devices(options: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    size = int(options[1]) * 64
    assert main([*VALID, *options, "--arg", f"s32:zeros({size})"]) == status
    captured = capsys.readouterr()
    assert words in captured.err
    valid = 0 if "--no-cooperative" in options else 1
    assert not captured.out if status else captured.out.startswith(f"0: [{valid}, {valid}, ")


@pytest.mark.parametrize(("line", "words"), [
    ('device = "sm_86"', "which sm_86 cannot run"),
    ("cooperative = true", "(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)"),
    ("cooperative = 1", "`cooperative` must be true or false, not `1`"),
])
def test_devices_in_launch_files(
    line: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "launch.toml"
    file.write_text(f'entry = "threads"\ngrid = 99999\nblock = 1\narguments = ["s32:1"]\n{line}\n')
    text = (KERNELS / "nvcc_runtime.ptx").read_text().replace("sm_80", "sm_90")
    (tmp_path / "k.ptx").write_text(text)
    assert main([str(tmp_path / "k.ptx"), "--launch", str(file)]) == 2
    assert words in capsys.readouterr().err


def test_registers_by_ptxas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if ptxas.find() is None:
        pytest.skip("no ptxas")
    file = tmp_path / "k.ptx"
    file.write_text(MANY_REGISTERS)
    for block, status in ((256, 0), (1024, 2)):
        command = [str(file), "--grid", "1", "--block", str(block), "--arg", "u32:zeros(200)", "--ptxas"]
        assert main(command) == status
        assert ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" in capsys.readouterr().err) == bool(status)
    file.write_text(MANY_REGISTERS.replace("ret;", "ret; bad;"))
    assert main([str(file), "--grid", "1", "--block", "1", "--arg", "u32:zeros(200)", "--ptxas"]) == 2
    assert f"ptxas rejects `{file}`: " in capsys.readouterr().err


def test_no_ptxas(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def nothing(explicit: Path | None = None) -> None:
        assert explicit is None

    monkeypatch.setattr("ptx_lsp.ptxas.find", nothing)
    assert main([*PRINTS, "--ptxas"]) == 2
    assert "ptxas was not found on PATH" in capsys.readouterr().err
    monkeypatch.undo()
    assert main([*PRINTS, f"--ptxas={tmp_path / 'nothing'}"]) == 2
    assert "is not a program that can be run" in capsys.readouterr().err


def test_output_of_kernels(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PRINTS) == 0
    assert capsys.readouterr().out == "even 0 of 9\n"
    assert main([*PRINTS, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["console"] == "even 0 of 9\n"
