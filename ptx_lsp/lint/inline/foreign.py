"""Recognises inline assembly of other machines, such as x86, which the same construct can hold."""

from __future__ import annotations

from functools import cache
from typing import Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.isa.schema.table import opcodes
from ptx_lsp.lazy_pattern import lazy_pattern

_LETTERS: Final = frozenset("hrlqfdnC0123456789")
"""The constraints of PTX."""
_STATEMENT: Final = lazy_pattern(
    rb"(?:^|[;{}:\n])\s*(?:@!?[%\w$]+\s+)?(?P<opcode>[a-z]\w*)(?P<modifier>\.[a-zA-Z_:])?|\.reg\b"
)
_WITHOUT_MODIFIERS: Final = frozenset((b"bra", b"brkpt", b"exit", b"ret", b"trap"))


def is_foreign(block: Block) -> bool:
    """Whether a block is not PTX. In CUDA it is PTX if anything looks like an instruction with a modifier; in
    languages for other machines, one must exist.
    """
    if block.language not in ("cuda", "cpp"):
        return False
    if any(set(one.constraint.strip("=+&% ")) - _LETTERS for one in block.operands):
        return True
    is_device = block.language == "cuda"
    for match in _STATEMENT.finditer(block.text.data):
        opcode = match["opcode"]
        if opcode is None or opcode in _WITHOUT_MODIFIERS:
            return False
        if match["modifier"] is not None and (is_device or opcode in _opcodes()):
            return False
    return not (is_device and block.text.holes)


@cache
def _opcodes() -> frozenset[bytes]:
    return frozenset(one.encode() for one in opcodes())
