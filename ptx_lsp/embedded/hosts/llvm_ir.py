"""Inline assembly in LLVM IR. https://llvm.org/docs/LangRef.html#inline-assembler-expressions"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.embedded.block import Block, relative
from ptx_lsp.embedded.host import Host, HostText
from ptx_lsp.embedded.llvm_asm import asm_block, asm_calls
from ptx_lsp.lazy_pattern import lazy_pattern

_TRIPLE = lazy_pattern(rb"^[ \t]*target[ \t]+triple[ \t]*=[ \t]*\"([^\"]*)\"", re.M)


def blocks(text: HostText) -> Iterator[Block]:
    """The calls of inline assembly, unless the file is for another machine."""
    data = text.source.data
    triple = _TRIPLE.search(data)
    is_ptx = triple is not None and triple[1].startswith(b"nvptx")
    if triple is not None and not is_ptx:
        return
    for call in asm_calls(data):
        block = asm_block(data, call, "llvm-ir", text.language)
        yield relative(block)._replace(is_ptx=is_ptx, is_context_free=False)


HOST = Host("llvm-ir", ("llvm",), (b"asm",), blocks)
