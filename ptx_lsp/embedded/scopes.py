"""Scopes that one block opens and another one closes.

The host puts the blocks of a function one after the other into its PTX, so a block may end with an open `{`,
and later blocks may use what it declares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.named_tuple import NamedTuple

_TOKEN = lazy_pattern(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"\n]*\"?|[{}]|\.reg\b(?P<names>[^;{}]*)", 0x10)
_NAME = lazy_pattern(rb"[%$\w]*[%$a-zA-Z_][%$\w]*")
_NO_NAMES: Final[frozenset[str]] = frozenset()


class Scopes(NamedTuple):
    """The braces of a text without a counterpart in it, and the registers outside of closed scopes."""

    opened: int
    closed: int
    names: frozenset[str]


@lru_cache(maxsize=4096)
def scopes(text: bytes) -> Scopes:
    """Reads the scopes of a block."""
    open_names: list[set[bytes]] = [set()]
    """The names of the outermost scope, and of each open one."""
    closed = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == b"{":
            open_names.append(set())
        elif token == b"}":
            if len(open_names) > 1:
                open_names.pop()
            else:
                closed += 1
        elif match["names"] is not None:
            declared = match["names"].split(None, 1)[1:]  # after the type
            open_names[-1].update(_NAME.findall(declared[0]) if declared else ())
    names = frozenset(name.decode("latin-1") for names in open_names for name in names)
    return Scopes(len(open_names) - 1, closed, names)


def joined(blocks: Sequence[Block]) -> list[Block]:
    """The blocks of a text, each with the names that others may declare for it, and with whether its braces
    may have their counterparts in others, or others enclose it.
    """
    found = [scopes(block.text.data) for block in blocks]
    exporting = [one.names for one in found if one.names]
    openers = [index for index, one in enumerate(found) if one.opened]
    closers = [index for index, one in enumerate(found) if one.closed]
    if not exporting and not (openers and closers):
        return [_alone(block) for block in blocks]
    counts = Counter(name for names in exporting for name in names)
    everything = frozenset(counts)
    made: list[Block] = []
    depth = 0
    for index, (block, one) in enumerate(zip(blocks, found, strict=True)):
        own = {name for name in one.names if counts[name] == 1}
        outer = everything - own if own else everything
        has_counterpart = bool(one.opened and closers and closers[-1] > index) or bool(
            one.closed and openers and openers[0] < index
        )
        is_enclosed = depth > 0 and closers[-1:] > [index]
        depth = max(0, depth + one.opened - one.closed)
        made.append(
            block._replace(outer_names=outer, shares_braces=has_counterpart, is_enclosed=is_enclosed)
        )
    return made


def _alone(block: Block) -> Block:
    """A block that may have been joined with others before an edit of these."""
    if not (block.outer_names or block.shares_braces or block.is_enclosed):
        return block
    return block._replace(outer_names=_NO_NAMES, shares_braces=False, is_enclosed=False)
