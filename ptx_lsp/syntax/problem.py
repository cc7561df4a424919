"""What the grammar found wrong, beside the tree."""

from __future__ import annotations

from typing import NamedTuple


class SyntaxProblem(NamedTuple):
    """Text that had to be there (`expected`) and is not, or junk (`start < end`) that must not be.

    Offsets are those of nodes. For something missing, `start == end` is right behind the token after
    which it had to come; what stands there instead is the next token of the file, which may belong to
    another statement, so it is looked up in the text when the problem is shown.
    """

    start: int
    end: int
    expected: str
    within: str
    """What it is a part of, in words: `an instruction`."""
    token: str | None = None
    """The very text to put there, where only one will do: a missing `;`, or nothing in place of junk."""
