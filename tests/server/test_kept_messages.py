"""What ptxas said about a line holds until the line changes."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.ptxas import Message
from ptx_lsp.server.background.kept_messages import kept_messages
from ptx_lsp.text import Source

LINES = ["zero;", "one;", "same;", "same;", "same;", "five;", ""]


def message(line: int | None) -> Message:
    return Message("warning", line, "odd")


def lines_after(new: list[str], *lines: int | None) -> list[int | None]:
    """Where the messages about lines of LINES, from 1, are in a new text."""
    old, text = Source.of("\n".join(LINES)), Source.of("\n".join(new))
    return [one.line for one in kept_messages([message(line) for line in lines], old, text)]


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        (LINES, [2, 4, 6]),
        (["new;", *LINES], [3, 5, 7]),
        (["", *LINES], [3, 5, 7]),
        ([LINES[0], *LINES[2:]], [3, 5]),
        ([*LINES[:1], "on", *LINES[2:]], [4, 6]),
        ([*LINES[:1], "    one;", *LINES[2:]], [2, 4, 6]),
        ([*LINES[:1], "one;", "", *LINES[2:]], [2, 5, 7]),
        ([*LINES[:3], "same;", *LINES[3:]], [2, 4, 7]),
        ([*LINES[:5], "five;", "more", ""], [2, 4, 6]),
        ([], []),
    ],
)
def test_a_message_follows_its_line(new: list[str], expected: list[int]) -> None:
    assert lines_after(new, 2, 4, 6) == expected


def test_messages_about_the_file_stay_and_those_beyond_it_go() -> None:
    assert lines_after([], None, 99) == [None]


def test_a_kept_message_is_at_the_same_text() -> None:
    """Of random edits, and each line that they leave alone keeps its message."""
    rng = random.Random(18)
    for _ in range(300):
        lines = [f"line {rng.randrange(6)}" for _ in range(12)]
        first = rng.randrange(13)
        last = rng.randrange(first, min(13, first + 3))
        new = [*lines[:first], *(f"new {n}" for n in range(rng.randrange(3))), *lines[last:]]
        found = kept_messages(
            [message(line + 1) for line in range(12)], Source.of("\n".join(lines)), Source.of("\n".join(new))
        )
        kept = [new[(one.line or 0) - 1] for one in found]
        assert len(kept) >= 12 - (last - first) - (1 if first < 12 else 0)
        assert not any(text.startswith("new") for text in kept)
