"""Where findings begin and end."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Source, Span


@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \t\r\n"])
def test_a_finding_ends_before_the_line_does(line_end: str) -> None:
    text = f".version 8.5\n.target sm_80\n.{line_end}.entry k() {{ ret; }}\n"
    found = LintSession(Module(Document.parse(Source.of(text)))).diagnostics
    at = text.index("\n.", 14) + 1
    assert [(one.rule, one.span) for one in found] == [("syntax-error", Span(at, at + 1))]
