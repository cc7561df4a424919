"""`ptx-run --record` and `--debug-on-finding`, and recordings that run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.cli.run import main
from ptx_lsp.executor.recording.archive import read_recording, write_recording
from ptx_lsp.executor.recording.fields import RecordingError

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
RACE = HEAD + """\
// ptx-run: grid=1 block=64 out=u32:zeros(1)
.visible .entry raced(.param .u64 out)
{
	.reg .b32 %r<2>; .reg .b64 %rd<1>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	st.global.u32 [%rd0], %r0;
	ret;
}
"""
FINE = RACE.split("\n", 3)[3].replace("raced", "fine").replace("block=64", "block=1")
ADD = HEAD + """\
.visible .entry add(.param .u64 x, .param .u32 n)
{
	.reg .b32 %r<4>; .reg .b64 %rd<2>;
	ld.param.u64 %rd0, [x];
	ld.param.u32 %r1, [n];
	mov.u32 %r0, %tid.x;
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	ld.global.u32 %r2, [%rd1];
	add.u32 %r2, %r2, %r1;
	st.global.u32 [%rd1], %r2;
	ret;
}
"""
LATE = HEAD + """\
// ptx-run: grid=1 block=64 flag=u32:zeros(1)
.visible .entry late(.param .u64 flag)
{
	.reg .pred %p; .reg .b32 %r<2>; .reg .b64 %rd<1>;
	ld.param.u64 %rd0, [flag];
	mov.u32 %r0, %tid.x;
	setp.ge.u32 %p, %r0, 32;
	@%p bra second;
	ld.relaxed.gpu.global.u32 %r1, [%rd0];
	setp.eq.u32 %p, %r1, 0;
	@%p trap;
	ret;
second:
	mov.u32 %r1, 1;
	st.relaxed.gpu.global.u32 [%rd0], %r1;
	ret;
}
"""
"""The first warp fails if it is faster than the second one."""
LOOP = HEAD + """\
// ptx-run: grid=1 block=1
.visible .entry long()
{
	.reg .pred %p; .reg .b64 %rd<1>;
	mov.u64 %rd0, 0;
again:
	add.u64 %rd0, %rd0, 1;
	setp.lt.u64 %p, %rd0, 0x1000000000000000;
	@%p bra again;
	ret;
}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_inputs_are_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("add.ptx").write_text(ADD)
    np.save("x.npy", np.arange(8, dtype=np.uint32))
    launch = ["add.ptx", "--grid", "1", "--block", "16", "--arg", "@x.npy", "--arg", "u32:5"]
    assert main([*launch, "--record", "r.ptxrec"]) == 1
    failed = capsys.readouterr().err
    Path("add.ptx").unlink()
    Path("x.npy").unlink()
    assert main(["r.ptxrec"]) == 1
    assert capsys.readouterr().err == failed
    assert "error[out-of-bounds]" in failed


def test_the_first_launch_that_goes_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(RACE + FINE)
    assert main(["k.ptx", "--check", "--record", "r.ptxrec"]) == 1
    assert read_recording(Path("r.ptxrec")).entry == "raced"
    assert main(["k.ptx", "--record", "r.ptxrec"]) == 0
    assert read_recording(Path("r.ptxrec")).entry == "fine"


def test_the_seed_of_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(LATE)
    assert main(["k.ptx"]) == 0
    assert main(["k.ptx", "--seeds", "8", "--jobs", "1", "--record", "r.ptxrec"]) == 1
    recorded = read_recording(Path("r.ptxrec"))
    assert recorded.seed
    assert recorded.outcome.problem is not None
    capsys.readouterr()
    assert main(["r.ptxrec"]) == 1
    found = capsys.readouterr().err
    assert "error[trap]" in found
    assert "differs" not in found


def test_without_a_terminal_a_finding_is_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(RACE)
    for name in ("raced.ptxrec", "raced-2.ptxrec"):
        assert main(["k.ptx", "--debug-on-finding"]) == 1
        assert f"`raced` is recorded: `ptx-run --debug {name}`" in capsys.readouterr().err
        assert read_recording(Path(name)).outcome.problem is not None
    Path("k.ptx").write_text(HEAD + FINE)
    assert main(["k.ptx", "--debug-on-finding"]) == 0
    assert not Path("fine.ptxrec").exists()


def test_a_replay_that_differs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("add.ptx").write_text(ADD)
    launch = ["add.ptx", "--grid", "1", "--block", "8", "--arg", "u32:arange(8)", "--arg", "u32:5"]
    assert main([*launch, "--record", "r.ptxrec"]) == 0
    assert main(["r.ptxrec"]) == 0
    assert main([*launch[:-1], "u32:6", "--record", "s.ptxrec"]) == 0
    one, other = read_recording(Path("r.ptxrec")), read_recording(Path("s.ptxrec"))
    write_recording(replace(one, outcome=other.outcome), Path("r.ptxrec"))
    capsys.readouterr()
    assert main(["r.ptxrec"]) == 1
    assert "differs from the run that ptx-lsp" in capsys.readouterr().err


def test_wrong_uses(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ptx").write_text(RACE)
    assert main(["k.ptx", "--record", "absent/r.ptxrec"]) == 2
    assert "absent/r.ptxrec" in capsys.readouterr().err
    Path("r.ptxrec").write_text("x")
    assert main(["r.ptxrec"]) == 2
    assert "not a recording, or damaged" in capsys.readouterr().err
    assert main(["k.ptx", "--record", "r.ptxrec"]) == 0
    assert main(["r.ptxrec", "--block", "3"]) == 2
    assert "`--block` cannot be combined with a recording" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="SIGINT")
def test_an_interrupted_run() -> None:
    Path("k.ptx").write_text(LOOP)
    command = [sys.executable, "-m", "ptx_lsp.cli.run", "k.ptx", "--record", "r.ptxrec", "--native", "off"]
    command += ["--limit", str(1 << 60)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            while not _is_written(Path("r.ptxrec")):
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            process.wait(60)
        finally:
            process.kill()
    assert read_recording(Path("r.ptxrec")).outcome.status == "interrupted"


def _is_written(path: Path) -> bool:
    try:
        return read_recording(path).outcome.status == "unfinished"
    except (OSError, RecordingError):
        return False


def test_a_program_that_launches_kernels() -> None:
    Path("program.py").write_text(f"""
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
module, kernel, address, context = (ctypes.c_void_p() for _ in range(4))
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuModuleLoadData(ctypes.byref(module), {ADD.encode()!r})
cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"add")
cuda.cuMemAlloc_v2(ctypes.byref(address), 32)
for block in (4, 8, 12, 8):
    number = ctypes.c_uint32(block)
    given = (ctypes.c_void_p * 2)(ctypes.addressof(address), ctypes.addressof(number))
    print(cuda.cuLaunchKernel(kernel, 1, 1, 1, block, 1, 1, 0, None, given, None))
""")
    command = [sys.executable, "-m", "ptx_lsp.cli.run", "--record", "r.ptxrec", "--python", "program.py"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stdout.split()[:3] == ["0", "0", "700"], found
    recorded = read_recording(Path("r.ptxrec"))
    assert (recorded.entry, recorded.block, recorded.path) == ("add", (12, 1, 1), "<module 1>")
    (block,) = recorded.memory.blocks
    assert np.frombuffer(block, np.uint32).tolist() == [12, 12, 12, 12, 8, 8, 8, 8]
    again = subprocess.run(
        [sys.executable, "-m", "ptx_lsp.cli.run", "r.ptxrec"], capture_output=True, text=True, check=False
    )
    assert again.returncode == 1
    assert "error[out-of-bounds]" in again.stderr
    assert "differs" not in again.stderr
