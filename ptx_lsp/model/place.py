"""Places that stay true while other statements change."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.stable_offsets import Located as Located

Owner: TypeAlias = nodes.Statement | nodes.Name


class Place(NamedTuple):
    """The part from `start` to `end` of the top-level statement that `owner` stands for, as nodes have
    them (`ptx_lsp.syntax.stable_offsets`).

    `owner` None: of the file itself, in bytes.
    """

    owner: Owner | None
    start: int
    end: int

    @classmethod
    def of(cls, owner: Owner | None, part: Located) -> Place:
        return cls(None if owner is None else anchor(owner), part.start, part.end)


def anchor(owner: Owner) -> Owner:
    """What stands for a top-level statement: itself, or of a function its `.entry` or `.func`, which stays
    the same object when the body changes.
    """
    return owner.kind if isinstance(owner, nodes.Function) else owner
