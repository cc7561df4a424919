"""The comparison of inline PTX with ptxas tells right from wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp import ptxas
from ptx_lsp.embedded.block import Block
from ptx_lsp.lint.inline.block_linter import BlockLinter, Verdict
from tests.oracle.inline_ptx import main

pytestmark = pytest.mark.skipif(ptxas.find() is None, reason="compares with ptxas, which is not installed")


def test_agreement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.cu").write_text(
        'void f() { asm("mov.u32 %0, %1;" : "=r"(x) : "r"(y)); asm("mov.u32 %0, q;" : "=r"(x));\n'
        'asm("wgmma.fence.sync.aligned;"); asm("mov.u32 %0, %1;" : "=r"(x) : "n"(N)); }\n'
    )
    (tmp_path / "b.py").write_text('inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], t, True, 1)\n')
    places = tmp_path / "blocks.jsonl"
    assert main([str(tmp_path), "--blocks", str(places)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "5 blocks: cuda 4, triton 1",
        "accepted 3, rejected with an error 1, unknown 1",
    ]
    assert len(places.read_text().splitlines()) == 5


def test_disagreement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def verdict(linter: BlockLinter, block: Block, written: bytes) -> Verdict:
        return ()

    monkeypatch.setattr(BlockLinter, "verdict", verdict)
    (tmp_path / "a.cu").write_text('void f() { asm("mov.u32 %0, q;" : "=r"(x)); }\n')
    assert main([str(tmp_path)]) == 1
    assert "a.cu:1: rejected: ptxas: " in capsys.readouterr().out
