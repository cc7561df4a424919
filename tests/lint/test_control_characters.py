"""Characters that no editor shows: what is white space to ptxas, and what is not."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %d;
    ld.param.u64 %d, [out];
    add.u32 %r1, %r1, 2;
    st.global.u32 [%d], %r1;
    ret;
}
"""


def _errors(text: str) -> list[str]:
    return [found.rule for found in LintSession(Module.parse(text)).diagnostics if found.severity == "error"]


@pytest.mark.parametrize("token", ["(.param", "out)", "%r<3>", ".reg .b64", "[out]", "%r1, 2", "[%d]", "ret"])
def test_0x1a_between_tokens_is_white_space(token: str) -> None:
    text = KERNEL.replace(token, f"\x1a{token}\x1a", 1)
    assert text != KERNEL
    assert _errors(text) == []


def test_0x1a_at_the_end_of_a_file() -> None:
    assert _errors(KERNEL + "\x1a") == []


def test_0x1a_within_a_token_parts_it() -> None:
    assert _errors(KERNEL.replace("%r1, 2", "%r\x1a1, 2"))


def test_a_nul_at_the_end_of_a_file() -> None:
    assert _errors(KERNEL + "\0") == ["not-ptx"]
