"""Every kernel of tests/conformance/kernels, executed; and how much of the table lines and kernels reach."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError
from ptx_lsp.executor.native.hot import NativeMode
from ptx_lsp.ptxas import judge
from tests.executor.conformance.conformance_kernel import KERNELS, launches
from tests.executor.conformance.conformed import conformed, executable, sentence
from tests.oracle.asynchronous.kernels import files
from tests.oracle.instructions.executed import PAGE


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.ptx")), ids=lambda path: path.stem)
def test_kernels(path: Path) -> None:
    _run(path, "auto")


@pytest.mark.parametrize("name", [
    "atomics", "barrier", "control", "extended", "fences", "memory", "move", "move_elements", "readonly",
    "stops", "vote",
])
def test_kernels_as_native_code(name: str) -> None:
    """Those of which most is native code."""
    pytest.importorskip("llvmlite")
    _run(KERNELS / f"{name}.ptx", "always")


def _run(path: Path, native: NativeMode) -> None:
    wrong: list[str] = []
    for launch in launches(path):
        for one, found in zip(launch.expected, launch.run(native=native), strict=True):
            if found != one.bits:
                wrong.append(f"{launch.place}: {one.name} is {_text(found)}, not {_text(one.bits)}")
    assert wrong == []


_TOGETHER = ("async_*", "arrive_later", "fences", "launch_control", "mbarrier")
"""Kernels that wait for what others do, or for copies."""


@pytest.mark.parametrize(
    "path", sorted(path for name in _TOGETHER for path in KERNELS.glob(f"{name}.ptx")),
    ids=lambda path: path.stem,
)
def test_nothing_is_wrong_with_them_in_another_order(path: Path) -> None:
    for launch in launches(path):
        found, wrong = launch.checked(seed=1)
        assert wrong == [], launch.place
        assert found == [one.bits for one in launch.expected], launch.place


@pytest.mark.parametrize("path", sorted(KERNELS.glob("*.ptx")), ids=lambda path: path.stem)
def test_ptxas_takes_them(path: Path) -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas")
    report = judge(path.read_bytes(), ptxas=tool, optimise="-O0")
    assert report.accepted, report.messages


def test_made_kernels_are_current() -> None:
    """`python -m tests.oracle.asynchronous.kernels` renews them."""
    for file in files():
        assert (KERNELS / f"{file.name}.ptx").read_text(encoding="utf-8") == file.text()


def _text(bits: tuple[int, ...]) -> str:
    return ",".join(map(hex, bits))


@pytest.mark.parametrize(("comment", "message"), [
    ("// expect: out=1,2", r"`// expect: NAME=VALUES  \(SOURCE\)` is expected"),
    ("// expect: out=1,2 (guess)", "no source"),
    ("// expect: in=1,2 (manual)", "`in` is no parameter of `k`"),
    ("// expect: out=1*3 (manual)", "3 values, and `out` has 2"),
    ("// nothing", "nothing is expected of `k`"),
])
def test_what_is_not_understood(tmp_path: Path, comment: str, message: str) -> None:
    path = tmp_path / "one.ptx"
    path.write_text(
        f".version 8.0\n.target sm_80\n// ptx-run: grid=1 block=1 out=u32:zeros(2)\n{comment}\n"
        ".entry k(.param .u64 out) { ret; }\n"
    )
    with pytest.raises(ValueError, match=message):
        list(launches(path))


@pytest.mark.parametrize(("body", "comment", "message"), [
    ("ret;", "trap  (manual)", "one.ptx:3: nothing stops it"),
    ("trap;", "deadlock  (manual)", "line 5: the kernel executed `trap`"),
    ("trap;", "trap  (manual)", ""),
])
def test_what_is_to_stop_a_kernel(tmp_path: Path, body: str, comment: str, message: str) -> None:
    path = tmp_path / "one.ptx"
    path.write_text(
        f".version 8.0\n.target sm_80\n// ptx-run: grid=1 block=1\n// expect: {comment}\n"
        f".entry k() {{ {body} }}\n"
    )
    (one,) = launches(path)
    assert one.unrecorded == f"`{comment.split()[0]}` stops it"
    if not message:
        assert one.run() == []
        return
    with pytest.raises((AssertionError, ExecutionError), match=re.escape(message)):
        one.run()


def test_values_as_text(tmp_path: Path) -> None:
    path = tmp_path / "one.ptx"
    path.write_text(
        ".version 8.0\n.target sm_80\n// ptx-run: grid=1 block=1 out=f32:zeros(5)\n"
        "// expect: out=1.5,0x7fffffff,2*2,-0.0 (manual)\n.entry k(.param .u64 out) { ret; }\n"
    )
    (one,) = launches(path)
    assert one.expected[0].bits == (0x3FC00000, 0x7FFFFFFF, 0x40000000, 0x40000000, 0x80000000)


def test_every_form_has_a_line() -> None:
    """Or a kernel; `python -m tests.executor.conformance.conformed --update` renews docs/coverage.md."""
    done = conformed()
    assert [f"{one.section}: {one.form.text}" for one in executable() if id(one.form) not in done] == []
    assert sentence() in PAGE.read_text(encoding="utf-8")
