"""What is suggested at a `<CURSOR>`."""

from __future__ import annotations

from ptx_lsp.ide.completion.completion import completion
from ptx_lsp.ide.completion.suggestion import Suggestion
from tests.ide.cursor import at_cursor


def suggestions(text: str) -> list[Suggestion]:
    module, offset = at_cursor(text)
    found = completion(module, offset)
    return list(found.suggestions) if found is not None else []


def check_completion(
    text: str, *first: str, has: tuple[str, ...] = (), lacks: tuple[str, ...] = ()
) -> None:
    """`first` are the first suggestions, `has` stand somewhere, `lacks` nowhere."""
    labels = [one.label for one in suggestions(text)]
    assert labels[: len(first)] == list(first)
    assert set(has) <= set(labels), labels
    assert not set(lacks) & set(labels)


def one(text: str, label: str) -> Suggestion:
    return next(found for found in suggestions(text) if found.label == label)
