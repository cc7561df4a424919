"""Random edits of files in other languages: nothing raises, every place lies in its text, and the blocks,
findings and tokens equal those of a fresh start.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.languages import language_named
from ptx_lsp.ide.hover.hover import hover
from ptx_lsp.ide.inline.block_places import BlockPlaces
from ptx_lsp.ide.inline.operand_hover import operand_hover
from ptx_lsp.ide.inline.suggestions import block_completion
from ptx_lsp.ide.inline.tokens import BlockTokens
from ptx_lsp.lint.configuration.selection import chosen
from ptx_lsp.lint.inline.block_linter import BlockLinter
from ptx_lsp.text import Edit, Source
from tests.strength import seeds

CUDA = r"""#include <cstdint>
// asm("in a comment");
#define FENCE asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define TAIL "mov.b32 %0, 0;\n"
#if __CUDA_ARCH__ >= 900
__device__ void a(uint32_t &d, uint64_t p) {
  asm volatile("{\n\t"
      ".reg .pred p;\n\t"   /* é */
      "setp.ne.b32 p, %0, 0;\n\t"
      "@p ld.global.b32 %0, [%1];\n\t"
      "}" : "+r"(d) : "l"(p) : "memory");
}
#endif
__device__ float b(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  asm volatile(R"(
    .reg .b32 %%t;
    add.u23 %%t, %0, 1;
  )" : : "r"(1));
  asm(TAIL : "=f"(y));
  return y;
}
"""
PYTHON = r'''import triton.language as tl
from cutlass._mlir.dialects import llvm

def shifted(x, n):
    return tl.inline_asm_elementwise(
        asm="shl.b23 $0, $1, 3;",
        constraints="=r,r",
        args=[x], dtype=tl.int32, is_pure=True, pack=1)

def held(x):
    return llvm.inline_asm(T.i32(), [x], f"""
        {{
        .reg .b32 t;  // é
        add.u32 t, $1, {n};
        mov.b32 $0, t;
        }}""", "=r,r", has_side_effects=True)
'''
RUST = r"""use core::arch::asm;
unsafe fn f(x: u32) -> u32 {
    let y: u32;
    asm!("add.u32 {y}, {x}, 1;", "mul.lo.u23 {y}, {y}, {x};", y = out(reg32) y, x = in(reg32) x);
    // asm!("no")
    y
}
"""
LLVM = r"""define i32 @f(i32 %x) {
  %1 = call i32 asm sideeffect "add.u32 $0, $1, 1;\0A", "=r,r"(i32 %x)
  ret i32 %1
}
"""
JULIA = r"""f(x) = @asmcall("add.u32 \$0, \$1, 1;", "=r,r", true, Int32, Tuple{Int32}, x)
"""
TEXTS = {"cuda": CUDA, "python": PYTHON, "rust": RUST, "llvm": LLVM, "julia": JULIA}
INSERTED = (
    '"', "'", "\\", "(", ")", '"""', "{", "}", ":", ";", ",", "%", "%%", "$1", "\n", "/*", "*/", "//", "#",
    'R"(', ')"', "asm", 'asm("mov.u32 %0, 1;" : "=r"(x));', "\\\n", "é", "\r\n", "f", " ", "0", '"\n"',
    "#if 0\n", "#endif\n",
)  # fmt: skip
RULES = chosen(())


@pytest.mark.parametrize("seed", seeds(3, 12))
@pytest.mark.parametrize("name", TEXTS)
def test_edits_equal_a_fresh_start(name: str, seed: int) -> None:
    chance = random.Random(f"{name} {seed}")
    language = language_named(name)
    document = HostDocument(Source(TEXTS[name].encode()), language)
    assert document.blocks
    linter, tokens = BlockLinter(RULES), BlockTokens()
    for edit in edits(chance, document.source.data):
        source = document.source.edited(edit)
        document = document.edited(edit, source)
        fresh = HostDocument(Source(source.data), language)
        assert [summary(one) for one in document.blocks] == [summary(one) for one in fresh.blocks]
        found = linter.diagnostics(document)
        assert found == BlockLinter(RULES).diagnostics(fresh)
        for one in found:
            assert 0 <= one.span.start <= one.span.end <= len(source.data)
        pieces = tokens.pieces(document, "utf-16")
        assert pieces == BlockTokens().pieces(fresh, "utf-16")
        if document.blocks:
            look(chance, linter, chance.choice(document.blocks), source)


def edits(chance: random.Random, data: bytes) -> Iterator[Edit]:
    """Edits one after another; each is for the text after the one before."""
    for _ in range(6):
        at = boundary(data, chance.randrange(len(data) + 1))
        end = boundary(data, min(len(data), at + chance.choice((0, 0, 1, 1, 2, 30))))
        new = b"" if end > at and chance.random() < 0.5 else chance.choice(INSERTED).encode()
        yield Edit(at, end, new)
        data = data[:at] + new + data[end:]


def boundary(data: bytes, at: int) -> int:
    """The beginning of the character at an offset."""
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def summary(block: Block) -> object:
    """All of a block but its functions."""
    pieces = [(one.start, one.host, one.kind) for one in block.text.pieces]
    return {**block._asdict(), "text": (block.text.data, pieces)}


def look(chance: random.Random, linter: BlockLinter, block: Block, source: Source) -> None:
    """Asks for everything at places of a block, in the template and beside it."""
    checked = linter.checked(block)
    places = BlockPlaces(checked, block.start)
    for _ in range(4):
        host = chance.randint(block.span.start, block.span.end)
        offset = places.offset(host, with_expressions=chance.random() < 0.5)
        if offset is None:
            continue
        assert 0 <= offset <= len(checked.virtual.data)
        for found in (operand_hover(places, offset), hover(checked.module, offset, is_fragment=True)):
            shown = places.span(found.span) if found is not None else None
            assert shown is None or 0 <= shown.start <= shown.end <= len(source.data)
        suggested = block_completion(places, offset)
        for one in suggested.suggestions[:5] if suggested is not None else ():
            places.written(offset, one.text)
        made = places.edits(Edit(offset, offset, b"x"))
        for one in made or ():
            assert block.start <= one.start <= one.end <= block.span.end
