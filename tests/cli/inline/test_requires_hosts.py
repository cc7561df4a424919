"""`--requires` in folders that also have sources in other languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.cli.lint import main


def test_only_ptx_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "a.cu"
    source.write_text('void f() { asm("mov.u32 %0, 1;" : "=r"(x)); }\n', "utf-8")
    (tmp_path / "b.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n", "utf-8")
    assert main(["--requires", "--no-cache", str(tmp_path)]) == 0
    assert "a.cu" not in capsys.readouterr().out
    assert main(["--requires", "--no-cache", str(source)]) == 2
    assert "--requires supports PTX files only" in "".join(capsys.readouterr())
