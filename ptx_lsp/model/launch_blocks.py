"""The block sizes with which launch comments (`// ptx-run: grid=4 block=32,8 ...`) launch kernels.

1. A comment is about the kernel that its `entry=NAME` names, else about the one that it stands in or before.
2. If comments launch one kernel with blocks of different sizes, its block size is unknown.
"""

from __future__ import annotations

import math

from ptx_lsp.isa.device_limits import MAX_THREADS_PER_BLOCK
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.document import Document

if TYPE_CHECKING:
    from typing import Final, TypeAlias

LaunchBlock: TypeAlias = "tuple[int, int, int]"
"""The threads of a block in each dimension."""
_MARK: Final = b"ptx-run:"
COMMENT: Final = lazy_pattern(r"//[ \t]*ptx-run:(.*)")
"""A launch comment; its group is what follows the mark."""
_WORD: Final = lazy_pattern(r"(?:^|\s)(block|entry)=(\S+)")


def launch_block(text: str) -> LaunchBlock | None:
    """The block size in `32`, `32x8` or `32,8,2`; None if it is none that a device takes."""
    parts = text.replace("x", ",").split(",")
    sizes = [int(part) if part.isdecimal() and len(part) < 5 else 0 for part in parts]
    if len(sizes) > 3 or not 0 < math.prod(sizes) <= MAX_THREADS_PER_BLOCK:
        return None
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def launch_blocks(document: Document) -> dict[str, LaunchBlock]:
    """The block size of each kernel that launch comments give one, by name."""
    if _MARK not in document.source.data:
        return {}
    kernels = [
        (item.end, item.node.name.text)
        for item in document.items
        if isinstance(item.node, nodes.Function) and item.node.kind.text == ".entry"
        and item.node.body is not None and item.node.name is not None
    ]  # fmt: skip
    found: dict[str, set[LaunchBlock | None]] = {}
    for match in COMMENT.finditer(document.source.text):
        words = dict(_WORD.findall(match[1]))
        following = (name for end, name in kernels if end > match.start())
        name = words.get("entry") or next(following, None)
        if name is not None and "block" in words:
            found.setdefault(name, set()).add(launch_block(words["block"]))
    return {name: size for name, (size, *others) in found.items() if size is not None and not others}
