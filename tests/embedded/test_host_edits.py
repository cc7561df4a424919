"""Edits of host files, also broken ones: no exception, places in order, and the blocks of a fresh start."""

from __future__ import annotations

import random

import pytest

from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.text import Edit, Source
from tests.embedded import test_julia, test_llvm_ir, test_mlir, test_mojo, test_rust
from tests.embedded.reading import check_places, read

TEXTS = {
    ".rs": "\n".join((test_rust.TWO, test_rust.OXIDE, test_rust.CUBECL)),
    ".jl": "\n".join((test_julia.CALL, '@asmcall("""\n  ret;\n  $x\n  """, "r")', test_julia.IR)),
    ".ll": test_llvm_ir.TRIPLE + 2 * test_llvm_ir.CALL,
    ".mlir": "\n".join((test_mlir.LLVM, test_mlir.TRITON, test_mlir.GENERIC, test_mlir.NVVM)),
    ".mojo": f'comptime asm = "ret;"\ninlined_assembly[asm, T, constraints="r"]()\n{test_mojo.CALL}',
}
INSERTED = (
    "", "", "'", '"', '"""', "\\",
    "{", "}", "(", ")", "[", "]", "#", "//", "/*", "*/", "\n", "$", "%", 'r#"', ";",
    ",", "=", "x", "é", "\0", "asm!(",
)  # fmt: skip


@pytest.mark.parametrize("suffix", TEXTS)
def test_blocks_after_edits_are_those_of_a_fresh_start(suffix: str) -> None:
    chance = random.Random(suffix)
    for _ in range(12):
        data = TEXTS[suffix].encode()
        document = read(data, suffix)
        for _ in range(12):
            start = chance.randrange(len(data) + 1)
            end = min(len(data), start + chance.choice((0, 0, 0, 1, 2, 5, 20)))
            new = chance.choice(INSERTED).encode()
            data = data[:start] + new + data[end:]
            document = document.edited(Edit(start, end, new), Source(data))
            fresh = read(data, suffix)
            assert _described(document) == _described(fresh), data
            check_places(fresh)


def _described(document: HostDocument) -> list[tuple[object, ...]]:
    return [
        (
            block.start,
            block.length,
            block.keyword,
            block.operands,
            block.clobbers,
            block.text.data,
            [(one.start, one.host, one.kind) for one in block.text.pieces],
        )
        for block in document.blocks
    ]
