"""The rule `out-of-bounds`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.access import accesses
from ptx_lsp.model.function import Function
from ptx_lsp.model.layout import size_bytes


@function_rule("out-of-bounds", code="W240")
def out_of_bounds(function: Function) -> Iterator[Finding]:
    """An access outside of the variable that it names.

    ## What it does
    Reports accesses at a variable, or at a constant distance from one, that lie outside of it wholly or in
    part. Arrays without a size (`.extern .shared .b8 a[]`) are not judged.

    ## Why it matters
    ptxas says nothing. Another variable is read or overwritten, or the kernel ends with an error.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[64];
    .visible .entry kernel()
    {
        st.shared.b32 [tile+64], 1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[64];
    .visible .entry kernel()
    {
        st.shared.b32 [tile+60], 1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the distance may be wrong, or the size of the variable.
    """
    for access in accesses(function):
        variable = access.variable
        if variable.is_unsized or variable.linkage == ".extern":
            continue
        size = size_bytes(variable)
        if size is None or (access.offset >= 0 and access.offset + access.size <= size):
            continue
        last = access.offset + access.size - 1
        message = (
            f"bytes {access.offset} to {last} of `{variable.name}` are accessed, which has {size} bytes"
        )
        related = ((variable.place, f"`{variable.name}` is declared here"),)
        yield Finding(function.place(access.address), message, related)
