"""A recorded launch ends in another process, without its inputs, as it ended when it was recorded."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, RecordingFile, launch
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.object_specs import argument, bindings
from ptx_lsp.executor.recording.recorder import LaunchKeeper, replayed
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Variable
from tests import strength

ROOT = Path(__file__).parents[3]
FOLDERS = ("tests/conformance/kernels", "tests/executor/seeded")
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REPLAY = """\
import sys
from pathlib import Path
from ptx_lsp.executor.recording.archive import read_recording
from ptx_lsp.executor.recording.recorder import replayed
for path in sorted(Path(sys.argv[1]).glob("*.ptxrec")):
    recorded = read_recording(path)
    found = replayed(recorded, lambda text: None)
    print(path.stem, "same" if found == recorded.outcome else (found, recorded.outcome))
"""


def _recorded(path: Path, text: str, comment: LaunchComment, seed: int = 0) -> None:
    recorder = RecordingFile(path)
    with suppress(ExecutionError):
        launch(
            text, entry=comment.entry, grid=comment.grid, block=comment.block,
            args=[argument(one, comment.seed) for one in comment.specs], shared_bytes=comment.shared_bytes,
            cluster=comment.cluster or None, bind=bindings(comment.bound, comment.seed), limit=1 << 20,
            check=True, seed=seed, recorder=recorder, console=lambda text: None,
        )


@pytest.mark.parametrize("folder", FOLDERS)
def test_in_another_process(folder: str, tmp_path: Path) -> None:
    count = 0
    for path in sorted((ROOT / folder).glob("*.ptx")):
        text = path.read_text(encoding="utf-8")
        comments = [one for one in launch_comments(Module.parse(text)) if not one.problem]
        for number, comment in enumerate(comments[: strength.number(1, 2)]):
            _recorded(tmp_path / f"{path.stem}-{number}.ptxrec", text, comment, seed=number)
            count += 1
    assert count
    _replay_elsewhere(tmp_path)


def test_examples(tmp_path: Path) -> None:
    for path in sorted((ROOT / "examples").glob("*.ptx")):
        module = Module.parse(path.read_text(encoding="utf-8"))
        for number, kernel in enumerate(one for one in module.functions if one.is_kernel):
            recorder = RecordingFile(tmp_path / f"{path.stem}-{number}.ptxrec")
            parameters = [one for one in kernel.launched if isinstance(one, Variable)]
            arguments = [_made_up(one.type, kernel.text(one.declaration)) for one in parameters]
            with suppress(ExecutionError):
                launch(
                    path, entry=kernel.name, grid=2, block=128, args=arguments, check=True, limit=1 << 16,
                    shared_bytes=4096, recorder=recorder,
                )
    assert len(list(tmp_path.iterdir())) > 10
    _replay_elsewhere(tmp_path)


def _made_up(type: str, declared: str) -> np.generic | np.ndarray[tuple[int], np.dtype[np.uint32]]:
    if type == ".u64" and ".ptr" in declared:
        return np.arange(1 << 12, dtype=np.uint32)
    return np.dtype(f"{'f' if type[1] == 'f' else 'u'}{int(type[2:]) // 8}").type(200)


def _replay_elsewhere(tmp_path: Path) -> None:
    """Replays all recordings in another process: each run ends as it did when it was recorded."""
    found = subprocess.run(
        [sys.executable, "-c", REPLAY, str(tmp_path)], capture_output=True, text=True, check=True,
        cwd=tmp_path,
    )
    lines = found.stdout.splitlines()
    assert len(lines) == len(list(tmp_path.iterdir()))
    assert [one for one in lines if not one.endswith(" same")] == []


def test_an_array_given_twice() -> None:
    text = HEAD + """
    .entry k(.param .u64 p, .param .u64 q)
    {
        .reg .b64 %p<2>; .reg .b32 %r<2>;
        ld.param.u64 %p0, [p]; ld.param.u64 %p1, [q];
        mov.u32 %r0, 7; st.global.u32 [%p0], %r0; ld.global.u32 %r1, [%p1]; st.global.u32 [%p1+4], %r1;
        ret;
    }
    """
    keeper, values = LaunchKeeper(), np.zeros(4, np.uint32)
    launch(text, entry="k", grid=1, block=1, args=[values, values[:2]], recorder=keeper)
    assert values.tolist() == [7, 7, 0, 0]
    assert keeper.kept is not None
    assert [len(one) for one in keeper.kept.memory.blocks] == [16]
    assert replayed(keeper.kept) == keeper.kept.outcome
