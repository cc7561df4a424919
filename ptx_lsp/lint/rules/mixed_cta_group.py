"""The rule `mixed-cta-group`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes

_grouped = instructions_matching(
    lambda spelling: spelling.startswith("tcgen05.") and ".cta_group::" in spelling
)


@function_rule("mixed-cta-group", code="E195", wake=opcodes("tcgen05"))
def mixed_cta_group(function: Function) -> Iterator[Finding]:
    """`tcgen05` instructions of a kernel for one block and for pairs of blocks.

    ## What it does
    Reports a `tcgen05` instruction whose `.cta_group` is not that of the first one in the kernel.

    ## Why it matters
    ptxas rejects it: all `tcgen05` instructions of a kernel must have the same `.cta_group`, also those
    that are never reached. In functions that are not kernels, ptxas accepts both.

    ## Example
    ```ptx
    .version 9.0
    .target sm_100a
    .address_size 64
    .visible .entry kernel()
    {
        .reg .b32 %r;
        .shared .b32 slot;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
        ld.shared.b32 %r, [slot];
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r, 32;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 9.0
    .target sm_100a
    .address_size 64
    .visible .entry kernel()
    {
        .reg .b32 %r;
        .shared .b32 slot;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
        ld.shared.b32 %r, [slot];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r, 32;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: whether the kernel is for pairs of blocks is unknown.
    """
    if not function.is_kernel:
        return
    first = ""
    for one in _grouped(function):
        words = one.spelling.split(".")
        at = next((at for at, word in enumerate(words) if word.startswith("cta_group::")), 0)
        first = first or words[at]
        if words[at] != first:
            yield Finding(
                opcode_part(function, one.node, at),
                f"`.{words[at]}`, but the first `tcgen05` instruction of the kernel has `.{first}`",
            )
