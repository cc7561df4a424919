"""The figures of kernels in words."""

from __future__ import annotations

import pytest

from ptx_lsp.ide.cursor.kernel_metrics import kernel_metrics, registers_text
from ptx_lsp.model.module import Module


@pytest.mark.parametrize(
    ("directive", "limit"), [(".maxntid 128", ""), (".maxnreg 64", ", at most 64"), ("", "")]
)
def test_a_limit_is_told_where_it_is_less_than_every_kernel_has(directive: str, limit: str) -> None:
    module = Module.parse(
        f".version 8.0\n.target sm_80\n.address_size 64\n.entry k() {directive} {{ ret; }}\n"
    )
    words = registers_text(kernel_metrics(module.functions[0]))
    assert words.startswith("about ")
    assert ("at most" in words) == bool(limit)
    assert limit in words
