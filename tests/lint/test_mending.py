"""Fixes, applied until none is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptx_lsp.lint.diagnostic import Diagnostic, Fix
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.fixes.fix_application import FixResult, apply_fixes
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source, Span
from tests.oracle import corpus


def judge(document: Document) -> list[Diagnostic]:
    return LintSession(Module(document), all_rules()).diagnostics


def finding(text: bytes, *edits: Edit, safe: bool = True) -> Diagnostic:
    place = Span(edits[0].start, edits[0].end)
    fix = Fix("mend it", edits, safe)
    return Diagnostic(text.decode(), "E101", "error", "", place, fix=fix)


def run(text: bytes, find: Callable[[bytes], list[Diagnostic]], unsafe: bool = False) -> FixResult:
    document = Document.parse(Source(text))
    return apply_fixes(document, lambda one: find(one.source.data), unsafe)


def test_rounds_until_nothing_is_left() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        at = text.find(b"b")
        return [finding(b"b", Edit(at, at + 1, b"c"))] if at >= 0 else []

    done = run(b"// abbb", find)
    assert done.document.source.data == b"// accc"
    assert done.applied == ("b", "b", "b")


def test_fixes_that_touch_wait_for_each_other() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        if text != b"// abcdef":
            return []
        return [
            finding(b"1", Edit(3, 4, b"x"), Edit(6, 7, b"y")),
            finding(b"2", Edit(4, 6, b"z")),
            finding(b"3", Edit(8, 9, b"")),
        ]

    done = run(b"// abcdef", find)
    assert done.document.source.data == b"// xbcye"
    assert done.applied == ("1", "3")


def test_pieces_next_to_each_other_are_taken_away_at_once() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        if text != b"// abcdef":
            return []
        return [finding(str(at).encode(), Edit(at, at + 1, b"")) for at in (3, 4, 6)]

    assert run(b"// abcdef", find).document.source.data == b"// cef"


def test_unsafe_fixes_only_where_asked_for() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        return [finding(b"1", Edit(3, 4, b"x"), safe=False)] if b"a" in text else []

    assert run(b"// a", find).applied == ()
    assert run(b"// a", find, unsafe=True).document.source.data == b"// x"


def test_alternatives_are_never_applied() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        one = finding(b"1", Edit(3, 4, b"x"))
        return [one._replace(fix=None, alternatives=tuple(filter(None, [one.fix])))]

    assert run(b"// a", find, unsafe=True).applied == ()


def test_a_fix_that_breaks_the_syntax_is_passed_over() -> None:
    text = b".version 8.0\n.target sm_80\n// a\n"

    def find(now: bytes) -> list[Diagnostic]:
        found = [finding(b"bad", Edit(9, 12, b"{{{"))]
        at = now.find(b"// a")
        return found if at < 0 else [*found, finding(b"good", Edit(at, at + 4, b"// b"))]

    done = run(text, find)
    assert done.document.source.data == text.replace(b"// a", b"// b")
    assert done.applied == ("good",)


def test_fixes_that_go_in_circles_end() -> None:
    def find(text: bytes) -> list[Diagnostic]:
        return [finding(b"1", Edit(3, 4, b"b" if text.endswith(b"a") else b"a"))]

    assert len(run(b"// a", find).applied) == 1


@pytest.mark.parametrize("path", corpus.files()[::12], ids=lambda path: path.name[:40])
def test_real_kernels(path: object) -> None:
    """Nothing is left to mend afterwards, and no error is new."""
    from pathlib import Path

    assert isinstance(path, Path)
    if path.stat().st_size > 150_000:
        return
    before = Document.parse(Source(path.read_bytes()))
    after = apply_fixes(before, judge, unsafe=True).document
    left = [one.fix for one in judge(after) if one.fix is not None]
    assert left == []
    errors = [sum(one.severity == "error" for one in judge(text)) for text in (before, after)]
    assert errors[1] <= errors[0]
