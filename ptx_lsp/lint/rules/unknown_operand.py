"""The rule `unknown-operand`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.embedded.block import Block, Operand
from ptx_lsp.lint.block_references import unknown_references
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.text import Edit, Span

if TYPE_CHECKING:
    from typing import Final

_WITH_SYMBOLS: Final = ("cuda", "cpp")


@block_rule("unknown-operand", code="E193")
def unknown_operand(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """A reference to an operand that the block does not have.

    ## What it does
    Reports `%9` in a block of inline assembly with nine operands or fewer, also in comments of the PTX,
    and `%[x]` if no operand is called `x`. In CUDA, it warns of every other `%[x]`.

    ## Why it matters
    The compiler rejects the block, often only when a template is instantiated: operands are numbered from
    zero. nvcc does not support symbolic names; only clang does.

    ## Example
    ```cuda
    __device__ unsigned sum(unsigned a, unsigned b) {
        unsigned result;
        asm("add.u32 %0, %1, %3;" : "=r"(result) : "r"(a), "r"(b));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned sum(unsigned a, unsigned b) {
        unsigned result;
        asm("add.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
        return result;
    }
    ```

    ## Fix safety
    The fix replaces a symbolic name by the number of its operand. It is safe. There is no fix for other
    references: the intended operand is unknown.
    """
    block = checked.block
    for one in unknown_references(block):
        yield BlockFinding(block.text.host_span(one.span), f"`{one.name}` does not exist: {_known(block)}")
    if block.language not in _WITH_SYMBOLS:
        return
    for operand in block.operands:
        if operand.symbol:
            for span in _symbolic(block, operand):
                edit = Edit(span.start, span.end, operand.name.encode())
                fix = Fix(f"Replace by `{operand.name}`", (edit,), safe=True)
                message = f"nvcc does not support `%[{operand.symbol}]`; use `{operand.name}`"
                yield BlockFinding(span, message, fix=fix, severity="warning")


def _known(block: Block) -> str:
    count = len(block.operands)
    if not count:
        return "the block has no operands"
    first, last = block.operands[0].name, block.operands[-1].name
    if count == 1:
        return f"the block has one operand, `{first}`"
    return f"the block has {count} operands, `{first}` {'and' if count == 2 else 'to'} `{last}`"


def _symbolic(block: Block, operand: Operand) -> Iterator[Span]:
    """Where the template names an operand by its symbol."""
    data, length = operand.name.encode(), len(f"%[{operand.symbol}]")
    for piece in block.text.pieces:
        is_symbolic = piece.kind == "replaced" and piece.host.end - piece.host.start == length
        if is_symbolic and block.text.data[piece.start : piece.start + len(data)] == data:
            yield piece.host
