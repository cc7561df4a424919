"""Lines, columns and edits of a source text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptx_lsp import text as ptx_text
from ptx_lsp.text import ColumnUnit, Edit, Position, Source

TEXTS = st.text(alphabet="a\n\r\f\u2028\u00e9\U0001f600 ", max_size=30)
UNITS: list[ColumnUnit] = ["utf-8", "utf-16", "utf-32"]


@given(
    TEXTS,
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 4), TEXTS), max_size=4),
    st.integers(1, 4),
)
def test_lines_after_edits_are_those_of_the_text(
    text: str, edits: list[tuple[int, int, str]], block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ptx_text, "_MOST_LINES", block)
        source = Source.of(text)
        for at, length, new in edits:
            assert source.line_starts
            start = min(at, len(source.data))
            end = min(start + length, len(source.data))
            source = source.edited(Edit(start, end, new.encode()))
            fresh = Source(source.data)
            ends = [*fresh.data.splitlines(keepends=True)]
            assert source.line_starts == fresh.line_starts
            assert source.line_count == max(1, len(ends) + fresh.data.endswith((b"\n", b"\r")))
            assert (source.is_ascii, source.has_returns) == (fresh.is_ascii, fresh.has_returns)
            for offset in range(len(source.data) + 1):
                assert source.row_of(offset) == source.data.count(b"\n", 0, offset)


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0, 2]),
        ("a\nb", [0, 2]),
        ("a\r\nb\rc\n", [0, 3, 5, 7]),
        ("\n\n", [0, 1, 2]),
        ("a\fb\u2028c\n", [0, 8]),  # neither ends a line
    ],
)
def test_lines(text: str, starts: list[int]) -> None:
    assert Source.of(text).line_starts == starts


def test_line_ends() -> None:
    source = Source.of("a\r\nb\nc\r\nd")
    assert [source.line_end(offset) for offset in range(len(source.data) + 1)] == [
        *["\r\n"] * 3, *["\n"] * 2, *["\r\n"] * 5
    ]
    assert [Source.of(text).line_end() for text in ("", "a", "\n", "\r")] == ["\n"] * 4


def test_columns_count_what_is_asked_for() -> None:
    source = Source.of("a\u00e9\U0001f600b")
    end = len(source.data) - 1  # at the b
    assert source.position(end, "utf-8") == Position(0, 7)
    assert source.position(end, "utf-16") == Position(0, 4)
    assert source.position(end, "utf-32") == Position(0, 3)


def test_a_column_past_the_end_is_the_end() -> None:
    source = Source.of("ab\r\ncd")
    assert source.offset(Position(0, 99)) == 2
    assert source.offset(Position(1, 99)) == 6
    assert source.offset(Position(9, 0)) == 6


def test_bytes_that_are_no_utf8_are_kept() -> None:
    source = Source(b"// \xff\nret;")
    assert source.decoded(0, 4) == "// \ufffd"
    assert source.position(5) == Position(1, 0)
    assert source.text[5:8] == "ret"


@given(TEXTS, st.sampled_from(UNITS))
def test_offset_undoes_position(text: str, unit: ColumnUnit) -> None:
    source = Source.of(text)
    offset = 0
    for character in text:
        line = source.line_of(offset)
        if offset <= source.line_span(line).end:  # not between CR and LF
            assert source.offset(source.position(offset, unit), unit) == offset
        offset += len(character.encode())


@given(TEXTS, st.lists(st.integers(0, 60)), st.sampled_from(UNITS))
def test_positions_are_those_of_each_offset(text: str, offsets: list[int], unit: ColumnUnit) -> None:
    source = Source.of(text)
    starts = [len(text[:number].encode()) for number in range(len(text) + 1)]
    some = sorted(starts[one % len(starts)] for one in offsets)
    assert list(source.positions(some, unit)) == [source.position(one, unit) for one in some]


@given(TEXTS, st.integers(0, 30), st.integers(0, 5), TEXTS)
def test_an_edit_replaces(text: str, start: int, length: int, new: str) -> None:
    source = Source.of(text)
    start = min(start, len(source.data))
    end = min(start + length, len(source.data))
    edit = Edit(start, end, new.encode())
    after = source.edited(edit)
    assert after.data == source.data[:start] + new.encode() + source.data[end:]
    assert len(after.data) - len(source.data) == edit.growth
