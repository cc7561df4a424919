"""Steps are applied together as they would be one after the other, if they are independent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptx_lsp.reduce.size import size_of
from ptx_lsp.reduce.step import Step, apply
from ptx_lsp.text import Edit

TEXT = b"0123456789abcdefghij"


def deletion(start: int, end: int) -> Edit:
    return Edit(start, end, b"")


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_deletions_are_united(ends: list[tuple[int, int]]) -> None:
    steps: list[Step] = [(deletion(min(one), max(one)),) for one in ends]
    kept = bytes(
        byte
        for index, byte in enumerate(TEXT)
        if not any(step[0].start <= index < step[0].end for step in steps)
    )
    assert apply(TEXT, steps) == kept
    assert apply(TEXT, steps[::-1]) == kept


@given(st.sets(st.integers(0, 19)))
def test_replacements_are_made_side_by_side(offsets: set[int]) -> None:
    steps: list[Step] = [(Edit(one, one + 1, b"<>"),) for one in sorted(offsets)]
    expected = b"".join(b"<>" if one in offsets else TEXT[one : one + 1] for one in range(20))
    assert apply(TEXT, steps) == expected


def test_a_step_that_contradicts_an_earlier_one_is_left_out_as_a_whole() -> None:
    first, second = (Edit(2, 4, b"X"),), (Edit(3, 4, b"Y"), Edit(10, 11, b"Y"))
    assert apply(TEXT, [first, second]) == b"01X456789abcdefghij"
    assert apply(TEXT, [second, first]) == b"012Y456789Ybcdefghij"


def test_an_edit_of_deleted_text_is_not_needed() -> None:
    both = (Edit(3, 4, b"Y"), Edit(10, 11, b"Y"))
    assert apply(TEXT, [(deletion(2, 6),), both]) == b"016789Ybcdefghij"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"f(a, b, c)", b"f(a, c)"),
        (b"f(b, c)", b"f(c)"),
        (b"f(a, b)", b"f(a )"),
        (b".reg a, b;", b".reg a ;"),
    ],
)
def test_commas_of_deleted_elements(before: bytes, after: bytes) -> None:
    at = before.index(b"b")
    assert apply(before, [(deletion(at, at + 1),)], in_lists=True) == after


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        (b"add.u32 %r1, 0, 1;", b"add.u32 %r1, %r2, 1;"),
        (b"mov.u32 %r1, 0f00000000;", b"mov.u32 %r1, %r2;"),
        (b"ld.u32 %r1, [a];", b"ld.u64 %r1, [a];"),
        (b"ret;", b"ret; // end"),
    ],
)
def test_sizes(smaller: bytes, larger: bytes) -> None:
    assert size_of(smaller) < size_of(larger)


def test_blanks_have_no_size() -> None:
    assert size_of(b"a  b\n\tc") == size_of(b"a b c")
