"""What a launch can have besides arguments is in a recording, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Multimem, RecordingFile, launch, tensor_map
from ptx_lsp.executor.recording.archive import read_recording
from ptx_lsp.executor.recording.outcome import outcome_of
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch
from ptx_lsp.executor.recording.recorder import replayed

NVCC = Path(__file__).parents[1] / "kernels"
HEAD = ".version 8.6\n.target sm_90\n.address_size 64\n"
Kept = Callable[[RecordingFile], object]


def _repeated(tmp_path: Path, run: Kept) -> RecordedLaunch:
    """A recording that was read again, and whose replay ends in the same way."""
    path = tmp_path / "x.ptxrec"
    run(RecordingFile(path))
    recorded = read_recording(path)
    assert replayed(recorded, lambda text: None) == recorded.outcome
    return recorded


@pytest.mark.parametrize("seed", [0, 5])
def test_cooperative_launches(seed: int, tmp_path: Path) -> None:
    data, out = np.arange(24, dtype=np.int32), np.zeros(4, np.int32)
    recorded = _repeated(tmp_path, lambda recorder: launch(
        NVCC / "nvcc_cooperative.ptx", entry="gsum", grid=3, block=(4, 2), args=[data, out, np.int32(24)],
        seed=seed, check=True, recorder=recorder,
    ))
    assert recorded.seed == seed
    assert recorded.outcome.memory


def test_clusters(tmp_path: Path) -> None:
    out = np.zeros(16, np.int32)
    recorded = _repeated(tmp_path, lambda recorder: launch(
        NVCC / "nvcc_cooperative.ptx", entry="clus", grid=8, block=64, args=[out], recorder=recorder,
    ))
    assert recorded.outcome.status == "done"


SPACES = HEAD + """
.const .u32 table[4] = {5, 6, 7, 8};
.global .u32 counter = 40;
.global .u64 place = generic(counter);
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 .ptr .const c, .param .u64 out, .param .align 8 .b8 both[16])
{
	.reg .b32 %r<8>; .reg .b64 %rd<8>;
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd0, %r0, 4;
	ld.param.u64 %rd1, [c];
	add.u64 %rd1, %rd1, %rd0;
	ld.const.u32 %r1, [%rd1];
	mov.u64 %rd2, table;
	add.u64 %rd2, %rd2, %rd0;
	ld.const.u32 %r2, [%rd2];
	ld.global.u64 %rd3, [place];
	atom.add.u32 %r3, [%rd3], %r1;
	mov.u32 %r4, dynamic;
	mad.lo.u32 %r4, %r0, 4, %r4;
	st.shared.u32 [%r4+64], %r2;
	ld.shared.u32 %r5, [%r4+64];
	ld.param.u64 %rd5, [both];
	st.global.u32 [%rd5], %r5;
	ld.param.u64 %rd4, [out];
	add.u64 %rd4, %rd4, %rd0;
	st.global.u32 [%rd4], %r5;
	ret;
}
"""


def test_state_spaces(tmp_path: Path) -> None:
    table, out, inner = np.arange(4, dtype=np.uint32), np.zeros(4, np.uint32), np.zeros(1, np.uint32)
    recorded = _repeated(tmp_path, lambda recorder: launch(
        SPACES, entry="k", grid=1, block=4, args=[table, out, (inner, np.uint32(3))], shared_bytes=128,
        device="sm_90", recorder=recorder,
    ))
    assert out.tolist() == [5, 6, 7, 8]
    assert (recorded.device, recorded.shared_bytes) == ("sm_90", 128)


def test_tensor_maps_and_multimem(tmp_path: Path) -> None:
    text = HEAD + """
    .visible .entry k(.param .align 64 .b8 map[128], .param .u64 all, .param .u64 out)
    {
        .reg .b32 %r<2>; .reg .b64 %rd<3>;
        ld.param.u64 %rd0, [all]; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [map];
        multimem.ld_reduce.relaxed.sys.global.add.u32 %r0, [%rd0];
        ld.global.u32 %r1, [%rd2];
        add.u32 %r0, %r0, %r1;
        st.global.u32 [%rd1], %r0;
        ret;
    }
    """
    tensor = tensor_map(np.arange(64, dtype=np.uint32).reshape(4, 16) + 100, box=(2, 8))
    both, out = Multimem(np.array([[7, 0], [8, 0]], np.uint32)), np.zeros(1, np.uint32)
    _repeated(tmp_path, lambda recorder: launch(
        text, entry="k", grid=1, block=1, args=[tensor, both, out], recorder=recorder,
    ))
    assert out.tolist() == [115]


PRINTS = HEAD + """
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.extern .func (.param .b64 r) malloc (.param .b64 size);
.global .align 1 .b8 format[4] = {104, 105, 10, 0};
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<3>; .reg .b64 %rd<5>;
	{
		.param .b64 f; .param .b64 a; .param .b32 r;
		mov.u64 %rd0, format; st.param.b64 [f], %rd0; mov.u64 %rd1, 0; st.param.b64 [a], %rd1;
		call.uni (r), vprintf, (f, a);
	}
	{
		.param .b64 size; .param .b64 r;
		mov.u64 %rd2, 16; st.param.b64 [size], %rd2;
		call.uni (r), malloc, (size);
		ld.param.b64 %rd3, [r];
	}
	mov.u32 %r0, 9;
	st.u32 [%rd3], %r0;
	ld.param.u64 %rd4, [out];
	st.global.u64 [%rd4], %rd3;
	ret;
}
"""


def test_printing_and_the_heap(tmp_path: Path) -> None:
    path, out, printed = tmp_path / "x.ptxrec", np.zeros(2, np.uint64), list[str]()
    recorder = RecordingFile(path)
    launch(PRINTS, entry="k", grid=1, block=2, args=[out], recorder=recorder, console=printed.append)
    recorded, again = read_recording(path), list[str]()
    assert replayed(recorded, again.append) == recorded.outcome
    assert "".join(again) == "".join(printed) == "hi\nhi\n"


def test_a_time_limit_is_not_repeated() -> None:
    late = ExecutionError("time limit exceeded", "limit", 3)
    assert outcome_of(None, 0, (), late).problem is None
    assert outcome_of(None, 0, (), ExecutionError("instruction limit", "limit", 3)).problem is not None
