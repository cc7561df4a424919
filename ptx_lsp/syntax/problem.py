"""The errors that the grammar finds, beside the tree."""

from __future__ import annotations

from ptx_lsp.named_tuple import NamedTuple


class SyntaxProblem(NamedTuple):
    """Missing text (`expected`), or junk (`start < end`).

    Offsets are those of nodes. For missing text, `start == end` is directly after the preceding token. The
    next token of the file is found there instead. It may belong to another statement, so it is looked up in
    the text when the problem is shown.
    """

    start: int
    end: int
    expected: str
    within: str
    """The enclosing construct, in words: `an instruction`."""
    token: str | None = None
    """The exact text to insert if only one is possible: a missing `;`, or nothing in place of junk."""
