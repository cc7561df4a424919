"""The rule `stray-pragma`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.directives.pragmas import masks, stray_masks
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives


@function_rule("stray-pragma", code="W218", wake=having_directives(masks), words=(".pragma",))
def stray_pragma(function: Function) -> Iterator[Finding]:
    """A `.pragma` about a load that does not precede one.

    ## What it does
    Reports `used_bytes_mask` if the next instruction is not a load.

    ## Why it matters
    The mask specifies which bytes of the following load are used. Elsewhere it has no effect, and ptxas
    does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel(.param .u32 n)
    {
        .reg .b32 %r<3>;
        ld.param.u32 %r1, [n];
        .pragma "used_bytes_mask 0x3";
        add.s32 %r2, %r1, 1;
        st.shared.b32 [%r1], %r2;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel(.param .u32 n)
    {
        .reg .b32 %r<3>;
        .pragma "used_bytes_mask 0x3";
        ld.param.u32 %r1, [n];
        add.s32 %r2, %r1, 1;
        st.shared.b32 [%r1], %r2;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended load is unknown.
    """
    for use, behind in stray_masks(function):
        related = ()
        if behind is not None:
            related = ((function.place(behind), "this is not a load"),)
        message = "`used_bytes_mask` must precede a load"
        yield Finding(use.place, message, related)
