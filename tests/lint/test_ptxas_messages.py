"""Messages of ptxas become findings at the token that they name, unless a finding of ours says the same."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.configuration.suppression import Suppressions
from ptx_lsp.lint.diagnostic import Diagnostic, Severity
from ptx_lsp.lint.ptxas_messages import MergedMessages, merge_messages
from ptx_lsp.ptxas import Message
from ptx_lsp.text import Source, Span

TEXT = """.version 8.0
.target sm_90a
.entry first() .minnctapersm 99
{
    .reg .b32 %r<12>;
    add.s32 %r1, %r11, %r1; ret;
    setmaxnreg.inc.sync.aligned.u32 64;
}
"""
SOURCE = Source(TEXT.encode())


def merged(message: Message, *found: Diagnostic) -> MergedMessages:
    return merge_messages(found, [message], SOURCE, Suppressions(SOURCE))


def ours(rule: str, what: str, severity: Severity) -> Diagnostic:
    start = TEXT.index(what)
    return Diagnostic(rule, "", severity, "ours", Span(start, start + len(what)))


@pytest.mark.parametrize(
    ("message", "marked"),
    [
        (Message("error", 6, "Unknown symbol '%r1'"), "%r1"),
        (Message("error", 6, "Arguments mismatch for instruction 'add'"), "add"),
        (Message("error", 6, "Unknown modifier '.s32'"), ".s32"),
        (Message("fatal", 6, "Parsing error near ';': syntax error"), ";"),
        (Message("error", 6, "Predicate expression expected"), "add.s32 %r1, %r11, %r1; ret;"),
        (Message("warning", None, "Stack size for entry function 'first' cannot be determined"), "first"),
        (Message("error", None, "something about the file"), ""),
        (Message("error", 99, "a line that is not there"), ""),
    ],
)
def test_the_token_is_marked(message: Message, marked: str) -> None:
    (found,) = merged(message).added
    assert SOURCE.decoded(*found.span) == marked
    if marked:
        assert found.span.start == TEXT.index(marked, TEXT.index("add.s32") if message.line else 0)


@pytest.mark.parametrize(
    ("message", "own"),
    [
        (Message("error", 6, "Unknown symbol '%r11'"), ours("undeclared-name", "%r11", "error")),
        (Message("error", 2, "Unknown symbol '%r11'"), ours("undeclared-name", "%r11", "error")),
        (
            Message("info", None, "(C7508) Potential Performance Loss: 'setmaxnreg' ignored"),
            ours("setmaxnreg-ignored", "setmaxnreg", "warning"),
        ),
        (
            Message("warning", None, "Value out of range. .minnctapersm will be ignored"),
            ours("ignored-directive", ".minnctapersm 99", "warning"),
        ),
    ],
)
def test_nothing_is_told_twice(message: Message, own: Diagnostic) -> None:
    assert merged(message, own) == MergedMessages({0: [message.text]}, [])
    other = own._replace(rule="another", severity="hint")
    assert len(merged(message, other).added) == 1
