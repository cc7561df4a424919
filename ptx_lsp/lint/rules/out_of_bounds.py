"""The rule `out-of-bounds`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow import pointer_provenance as origins
from ptx_lsp.facts import collect_over_results
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions import access
from ptx_lsp.model.instructions.layout import size_bytes
from ptx_lsp.model.symbols import Variable
from ptx_lsp.syntax import nodes


@function_rule("out-of-bounds", code="W240", wake=woken_by(access.VARIABLE_ACCESS) | origins.POINTERS)
def out_of_bounds(function: Function) -> Iterator[Finding]:
    """An access outside the variable that it names.

    ## What it does
    Reports accesses at a variable, or at a constant offset from it, that are wholly or partly out of
    bounds. Arrays without a size (`.extern .shared .b8 a[]`) are not checked.

    ## Why it matters
    ptxas does not report it. The access reads or overwrites another variable, or the kernel fails.

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
    There is no fix: either the offset or the size of the variable may be wrong.
    """
    lengths: dict[int, int | None] = {}
    for found in access.accesses(function):
        variable = found.variable
        if id(variable) not in lengths:
            lengths[id(variable)] = size_bytes(variable)
        length = lengths[id(variable)]
        if length is not None and not 0 <= found.offset <= length - found.size:
            yield from _of(function, variable, found.offset, found.size, found.address)
    yield from _through_registers(function)


@collect_over_results(origins.pointer_accesses)
def _through_registers(function: Function, found: origins.PointerAccess) -> Iterator[Finding]:
    _, address, origin, size = found
    if origin.variable is not None and origin.offset is not None and size is not None:
        yield from _of(function, origin.variable, origin.offset, size, address)


def _of(
    function: Function, variable: Variable, offset: int, size: int, address: nodes.Expression
) -> Iterator[Finding]:
    if variable.linkage == ".extern" or variable.declarator.range is not None:
        return
    length = size_bytes(variable)
    if length is None or (offset >= 0 and offset + size <= length):
        return
    last = offset + size - 1
    message = (
        f"access to bytes {offset} to {last} is out of bounds: `{variable.name}` has {length} bytes"
    )
    related = ((variable.place, f"`{variable.name}` is declared here"),)
    yield Finding(function.place(address), message, related)
