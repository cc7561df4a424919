"""The rule `colliding-name`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.block_accesses import block_instructions
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.model.place import Place
from ptx_lsp.text import Edit, Span

_MOST = 3
"""Names that are listed."""


@block_rule("colliding-name", code="W286")
def colliding_name(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """A register, variable or label of a block of inline assembly that is declared outside of `{ }`.

    ## What it does
    Reports declarations and labels that the braces of the block do not enclose, unless their names contain
    `%=`. Blocks that only declare names, for others that follow, do not count, nor do blocks in a scope
    that another block opens.

    ## Why it matters
    The compiler copies the block when it inlines the function twice, unrolls a loop or instantiates a
    template twice in one kernel. The names are then declared twice in one function, and ptxas rejects
    it: `Duplicate definition of variable`. Names in braces, also labels, are local to the copy.

    ## Example
    ```cuda
    __device__ unsigned is_zero(unsigned x) {
        unsigned result;
        asm(".reg .pred p;\\n\\t"
            "setp.eq.u32 p, %1, 0;\\n\\t"
            "selp.u32 %0, 1, 0, p;" : "=r"(result) : "r"(x));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned is_zero(unsigned x) {
        unsigned result;
        asm("{ .reg .pred p;\\n\\t"
            "setp.eq.u32 p, %1, 0;\\n\\t"
            "selp.u32 %0, 1, 0, p; }" : "=r"(result) : "r"(x));
        return result;
    }
    ```

    ## Fix safety
    The fix encloses the block in braces. It is unsafe: another block of the function may use the names.
    """
    item = checked.function.item
    if checked.block.is_enclosed or checked.block.shares_braces:
        return
    if checked.block.text.holes or item.problems or item.is_unclosed or not block_instructions(checked):
        return
    found = sorted(_declared(checked), key=lambda one: one[1])
    if not found:
        return
    names = ", ".join(f"`{name}`" for name, _ in found[:_MOST])
    if len(found) > _MOST:
        names += f" and {len(found) - _MOST} more"
    is_one = len(found) == 1
    message = (
        f"{names} {'is' if is_one else 'are'} declared outside of `{{ }}`: ptxas rejects the kernel if the "
        "compiler duplicates this block"
    )
    yield BlockFinding(checked.block.text.host_span(found[0][1]), message, fix=_in_braces(checked))


def _declared(checked: CheckedBlock) -> Iterator[tuple[str, Span]]:
    """The names that the block declares in the scope of the function, with their places in its PTX."""
    scope = checked.function.body.scope
    operands = {one.name for one in checked.block.operands}
    places = {one.place: name for name, one in scope.names.items() if name not in operands}
    places |= {one.declared.place: f"{name}<{one.count}>" for name, one in scope.ranges.items()}
    for place, name in places.items():
        span = _inside(checked, place)
        if span is not None and not _is_unique(checked, span):
            yield name, span


def _inside(checked: CheckedBlock, place: Place) -> Span | None:
    span = checked.module.span(place)
    return checked.virtual.inside(span) if span.start >= checked.virtual.start else None


def _is_unique(checked: CheckedBlock, span: Span) -> bool:
    """Whether a name contains `%=`, for which a number stands in the PTX."""
    text = checked.block.text
    return any(
        piece.kind == "replaced" and text.data[part.start : part.end].isdigit()
        for piece, part, _ in text.pieces_in(span)
    )


def _in_braces(checked: CheckedBlock) -> Fix | None:
    text = checked.block.text
    opening, closing = text.encode_at(0)("{ "), text.encode_at(len(text.data))(" }")
    if opening is None or closing is None or b"//" in text.data.rpartition(b"\n")[2]:
        return None
    start, end = text.host_offset(0), text.host_offset(len(text.data))
    edits = (Edit(start, start, opening.encode()), Edit(end, end, closing.encode()))
    return Fix("Enclose the block in braces", edits, safe=False)
