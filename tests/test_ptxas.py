"""ptxas: its output read from recordings, and the real program where there is one."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from ptx_lsp.ptxas import (
    Message,
    PtxasError,
    Report,
    Resources,
    architecture,
    architectures,
    find,
    judge,
    read,
    version,
)

RECORDED = Path(__file__).parent / "data" / "ptxas"
needs_ptxas = pytest.mark.skipif(find() is None, reason="there is no ptxas here")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
STORE_SHARED = """.visible .entry k(.param .u64 p)
{
  .shared .align 4 .b8 buffer[128];
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, buffer;
  st.shared.u32 [%r1], %r1;
  bar.sync 0;
  ld.shared.u32 %r2, [%r1+4];
  st.global.u32 [%rd1], %r2;
  ret;
}
"""
HELP = """
--gpu-name <gpu name>                               (-arch)
        Allowed values for this option:  'compute_75','sm_75','sm_80','sm_90','sm_90a',
        'sm_100','sm_100a','sm_110','sm_110a'
"""


def recorded(name: str, *, accepted: bool) -> Report:
    return read((RECORDED / f"{name}.txt").read_text(encoding="utf-8"), accepted=accepted)


def test_resources_of_kernels_and_functions_are_kept_apart() -> None:
    report = recorded("kernels-and-function", accepted=True)
    assert report == Report(
        messages=(),
        kernels={
            "$odd_k2": Resources(24, 0, 0, 0, 0, 0, 0, {0: 360}),
            "k1": Resources(14, 4, 128, 400, 0, 0, 0, {0: 360}),
        },
        functions={"_Z3fooi": Resources(stack_bytes=0, spill_store_bytes=0, spill_load_bytes=0)},
        accepted=True,
        aborted=False,
    )


def test_a_function_between_kernels_with_spills_and_a_warning() -> None:
    report = recorded("stack-unknown", accepted=True)
    assert report.messages == (
        Message(
            "warning",
            None,
            "Stack size for entry function 'quicksort_rec' cannot be statically determined",
        ),
    )
    assert list(report.kernels) == ["merge_path", "quicksort_rec", "bitonic_step", "bitonic_shared"]
    assert report.kernels["bitonic_shared"] == Resources(14, 1, 4096, 40, 0, 0, 40, {0: 364})
    assert report.functions["_Z2qsPiii"].spill_store_bytes == 12
    assert report.functions["_Z2qsPiii"].registers is None


def test_a_syntax_error_ends_the_judgement() -> None:
    report = recorded("syntax-error", accepted=False)
    assert report.messages == (
        Message("error", 6, "Arguments mismatch for instruction 'add'"),
        Message("error", 7, "Not a name of any known instruction: 'foo'"),
        Message("fatal", 8, "Parsing error near 'b': syntax error"),
    )
    assert report.aborted
    assert not report.accepted


def test_errors_alone_leave_every_line_judged() -> None:
    report = recorded("errors", accepted=False)
    assert [message.line for message in report.messages] == [6, 6, 2]
    assert not report.aborted


def test_the_line_may_stand_in_the_text() -> None:
    report = recorded("non-ascii", accepted=False)
    assert [message.line for message in report.messages] == [3]
    assert report.aborted


def stand_in(folder: Path, script: str) -> Path:
    """A program in the place of ptxas that prints HELP for `--help`, and else does as `script` says."""
    program = folder / "ptxas"
    (folder / "help").write_text(HELP, encoding="utf-8")
    program.write_text(
        f'#!/bin/sh\nif [ "$1" = --help ]; then cat "{folder}/help"; exit 0; fi\n{script}\n',
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@posix_only
@pytest.mark.parametrize(
    ("target", "chosen"),
    [
        (".target sm_90a", "sm_90a"),
        (".target sm_10, map_f64_to_f32", "sm_75"),
        (".target sm_82", "sm_90"),
        (".target sm_101a", "sm_110a"),
        (".target sm_999", "sm_110"),
        (".target compute_80", "sm_80"),
        (".target sm_75,\n sm_80 // sm_90", "sm_80"),
        ("// .target sm_90\n.version 8.0 .target sm_80, debug", "sm_80"),
        ("no directive", "sm_75"),
    ],
)
def test_the_target_is_raised_to_one_with_code(tmp_path: Path, target: str, chosen: str) -> None:
    program = stand_in(tmp_path, "exit 1")
    assert architectures(program)[0] == "sm_75"
    assert architecture(target.encode(), program) == chosen


@posix_only
@pytest.mark.parametrize(
    ("script", "words", "timeout_s"),
    [
        ("kill -SEGV $$", "signal 11", 60),
        ("exit 3", "ended with 3", 60),
        ("exec sleep 1000", "longer than 0.3 s", 0.3),
        (
            "echo \"ptxas fatal   : Value 'sm_9' is not defined for option 'gpu-name'\"; exit 255",
            "is not defined for option",
            60,
        ),
    ],
)
def test_a_failure_of_the_program_is_no_verdict(
    tmp_path: Path, script: str, words: str, timeout_s: float
) -> None:
    program = stand_in(tmp_path, script)
    with pytest.raises(PtxasError, match=words):
        judge(HEADER.encode(), ptxas=program, arch="sm_90", timeout_s=timeout_s)


@posix_only
def test_it_is_tried_again_where_ptxas_asks_for_it(tmp_path: Path) -> None:
    program = stand_in(
        tmp_path,
        """echo "$*" >> "$(dirname "$0")/calls"
case "$*" in
*-O3*) echo "ptxas fatal   : Optimized debugging not supported"; exit 255;;
*-c*) exit 0;;
*) echo "ptxas fatal   : Unresolved extern function 'f'"; exit 255;;
esac""",
    )
    assert judge(HEADER.encode(), ptxas=program, arch="sm_90").accepted
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    options = [call.removeprefix("-v ").partition(" -o ")[0] for call in calls]
    assert options == ["-O3 -arch sm_90", "-g -O0 -arch sm_90", "-g -O0 -c -arch sm_90"]


@posix_only
def test_the_order_of_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("named", "path", "home/bin"):
        (tmp_path / name).mkdir(parents=True)
        stand_in(tmp_path / name, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}/usr/bin")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert find(tmp_path / "named" / "ptxas") == tmp_path / "named" / "ptxas"
    assert find(tmp_path / "named") == tmp_path / "named" / "ptxas"
    assert find() == tmp_path / "path" / "ptxas"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find() == tmp_path / "home" / "bin" / "ptxas"


def test_a_path_that_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a program", encoding="utf-8")
    for path in (tmp_path / "text", tmp_path / "absent", tmp_path):
        with pytest.raises(PtxasError, match="not a program"):
            find(path)


def test_a_program_that_is_not_ptxas() -> None:
    with pytest.raises(PtxasError, match="is not ptxas"):
        version(Path(sys.executable))


def real() -> Path:
    path = find()
    assert path is not None
    return path


@needs_ptxas
def test_real_resources() -> None:
    assert "." in version(real())
    report = judge((HEADER + STORE_SHARED).encode(), ptxas=real())
    assert report.accepted
    assert report.messages == ()
    kernel = report.kernels["k"]
    assert (kernel.shared_bytes, kernel.barriers, kernel.stack_bytes) == (128, 1, 0)
    assert kernel.registers is not None
    assert 4 <= kernel.registers <= 24


@needs_ptxas
@pytest.mark.parametrize("arch", [None, "compute_90"])
def test_real_errors(arch: str | None) -> None:
    broken = STORE_SHARED.replace("%r2, [", "%unknown, [").replace("ret;", "ret, ;")
    report = judge((HEADER + broken).encode(), ptxas=real(), arch=arch)
    assert not report.accepted
    assert report.aborted
    assert report.messages[-1] == Message("fatal", 14, "Parsing error near ',': syntax error")
    unknown = judge((HEADER + broken.replace("ret, ;", "ret;")).encode(), ptxas=real(), arch=arch)
    assert Message("error", 12, "Unknown symbol '%unknown'") in unknown.messages
    assert not unknown.aborted


@needs_ptxas
def test_real_extern_function_and_unknown_architecture() -> None:
    calls = HEADER + ".extern .func f;\n.entry k() { call f; ret; }\n"
    assert judge(calls.encode(), ptxas=real()).accepted
    with pytest.raises(PtxasError, match="sm_9"):
        judge(calls.encode(), ptxas=real(), arch="sm_9")


def test_lines_of_texts_inside_ptxas_are_not_the_users() -> None:
    text = "ptxas <macro util>, line 2; error   : PTX .version 8.5 does not support .target sm_100\n"
    (message,) = read(text, accepted=False).messages
    assert message == Message("error", None, "PTX .version 8.5 does not support .target sm_100")
