"""Calls that `call-mismatch` does not report."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.rules.call_mismatch import call_mismatch
from ptx_lsp.model.module import Module


@pytest.mark.parametrize(
    "head",
    [
        ".func f(.param .b32)",  # a parameter without a name
        ".func f(.param .b32 a .param .b32 b)",  # a missing comma
        ".func f(.param .b32 a, b)",
        ".func f(.param .b32 a, %, .param .b32 b)",
    ],
)
def test_a_head_that_cannot_be_read_is_not_compared(head: str) -> None:
    module = Module.parse(
        ".version 9.5\n.target sm_90\n.address_size 64\n"
        f"{head};\n.entry k() {{ .reg .b32 %r; call f, (%r, %r); call f, (%r); call f; ret; }}\n"
    )
    assert LintSession(module, [call_mismatch]).diagnostics == []
