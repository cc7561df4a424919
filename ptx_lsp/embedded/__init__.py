"""PTX inside other languages: inline assembly in CUDA, Python, Rust and others.

A host (`hosts/`) finds the blocks of inline assembly in a text. A block has its PTX with a map of every byte
back to the host, and its operands. `virtual_module.py` makes a PTX file of one block, which is then checked
and shown like any other.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

BLOCK: Final = "$__block"
"""The name of the function whose body is a block. Every run imports this."""
