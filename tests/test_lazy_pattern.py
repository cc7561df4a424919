"""A lazy pattern is compiled once, when it is first used."""

from __future__ import annotations

import re

import pytest

from ptx_lsp.lazy_pattern import compile_patterns, lazy_pattern


def test_it_is_compiled_when_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []
    usual = re.compile

    def compile(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return usual(text, flags)

    monkeypatch.setattr(re, "compile", compile)
    word = lazy_pattern("w[a-z]+", re.IGNORECASE)
    assert not compiled
    assert [word.sub("-", "a Word") for _ in range(3)] == ["a -"] * 3
    assert compiled == ["w[a-z]+"]
    assert word.search("none") is None
    assert lazy_pattern(b"x").match(b"x")


def test_all_are_compiled_early(monkeypatch: pytest.MonkeyPatch) -> None:
    word = lazy_pattern("w[a-z]+")
    compile_patterns()
    monkeypatch.delattr(re, "compile")
    assert word.sub("-", "a word") == "a -"
    assert word.fullmatch("word")
