"""Places that stay valid while other statements change."""

from __future__ import annotations

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.stable_offsets import Located as Located

if TYPE_CHECKING:
    from typing import TypeAlias

Owner: TypeAlias = nodes.Statement | nodes.Name


class Place(NamedTuple):
    """The part from `start` to `end` of the top-level statement identified by `owner`, in offsets of nodes
    (`ptx_lsp.syntax.stable_offsets`).

    If `owner` is None, the offsets are bytes of the file.
    """

    owner: Owner | None
    start: int
    end: int

    @classmethod
    def of(cls, owner: Owner | None, part: Located) -> Place:
        return cls(None if owner is None else anchor(owner), part.start, part.end)


def anchor(owner: Owner) -> Owner:
    """The identity of a top-level statement: the statement itself, or for a function its `.entry` or `.func`,
    which stays the same object when the body changes.
    """
    return owner.kind if isinstance(owner, nodes.Function) else owner
