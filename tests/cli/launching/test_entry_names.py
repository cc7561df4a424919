"""Kernels that users name as in CUDA, on the command line, in launch comments and from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.cli.run import main
from ptx_lsp.executor import ExecutionError, launch

TEMPLATES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z3fooIfEvPT_(.param .u64 p) {
.reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 7; ret; }
// ptx-run: grid=1 block=1 entry=foo<double> p=u32:zeros(1)
.visible .entry _Z3fooIdEvPT_(.param .u64 p) {
.reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 8; ret; }
"""
FOO = "`foo<float>(float*)` (`_Z3fooIfEvPT_`), `foo<double>(double*)` (`_Z3fooIdEvPT_`)"


@pytest.mark.parametrize(
    ("entry", "out", "error"),
    [
        ("foo<float>(float*)", "0: [7]\n", ""),
        ("foo<double>", "0: [8]\n", ""),
        ("_Z3fooIfEvPT_", "0: [7]\n", ""),
        ("foo", "", f"`foo` is ambiguous: {FOO}\n"),
        ("far", "", f"no kernel `far`; the kernels are {FOO}\n"),
    ],
)
def test_entries_are_named_as_in_cuda(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entry: str, out: str, error: str
) -> None:
    path = tmp_path / "t.ptx"
    path.write_text(TEMPLATES)
    status = main([str(path), "--grid=1", "--block=1", "--arg=u32:zeros(1)", "--out=0", "--entry", entry])
    said = capsys.readouterr()
    assert (status, said.out) == (2 if error else 0, out)
    assert said.err == (f"ptx-run: error: `{path}`: {error}" if error else "")


def test_launch_comments_name_kernels_as_in_cuda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.ptx"
    path.write_text(TEMPLATES)
    assert main([str(path), "--entry", "foo<double>"]) == 0
    assert capsys.readouterr().out == "0: [8]\n"


def test_python_names_kernels_as_in_cuda() -> None:
    found = np.zeros(1, np.uint32)
    launch(TEMPLATES, entry="foo<double>(double*)", grid=1, block=1, args=[found])
    assert found[0] == 8
    with pytest.raises(ExecutionError, match="`foo` is ambiguous: `foo<float>") as caught:
        launch(TEMPLATES, entry="foo", grid=1, block=1, args=[found])
    assert caught.value.kind == "launch"
