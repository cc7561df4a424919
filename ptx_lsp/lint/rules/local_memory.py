"""The rule `local-memory`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives, opcodes
from ptx_lsp.model.instructions.layout import size_bytes


def _has_variables(function: Function) -> bool:
    return bool(function.body.variables)


@function_rule(
    "local-memory", code="P314",
    wake=having_directives(_has_variables) | opcodes("alloca"),
    words=("local", "alloca"),
)  # fmt: skip
def local_memory(function: Function) -> Iterator[Finding]:
    """Variables in local memory.

    ## What it does
    Reports each kernel or function, once, that has variables in `.local` or allocates memory with
    `alloca`. Debug builds (`.target debug`) keep everything in local memory and are not checked.

    ## Why it matters
    Local memory is part of global memory: an access that misses the caches costs hundreds of cycles.
    ptxas gives a kernel with `.local` variables a stack and rarely moves them to registers. They result
    from arrays indexed by run-time values, and from variables whose addresses are taken.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .local .align 16 .b8 table[16];
        .reg .b32 %r<4>;
        .reg .b64 %d;
        ld.param.u32 %r0, [n];
        ld.param.u64 %d, [out];
        mov.b32 %r1, table;
        add.s32 %r2, %r1, %r0;
        st.local.v4.b32 [table], {1, 2, 3, 5};
        ld.local.b32 %r3, [%r2];
        st.global.b32 [%d], %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .const .align 4 .b32 table[4] = {1, 2, 3, 5};
    .visible .entry kernel(.param .u32 n, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r<4>;
        .reg .b64 %d;
        ld.param.u32 %r0, [n];
        ld.param.u64 %d, [out];
        mov.b32 %r1, table;
        add.s32 %r2, %r1, %r0;
        ld.const.b32 %r3, [%r2];
        st.global.b32 [%d], %r3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix.
    """
    if any(name.text == "debug" for name in function.module.target_names):
        return
    variables = [one for one in function.body.variables if one.space == ".local"]
    if variables:
        sizes = [size_bytes(one) for one in variables]
        known = sum(size for size in sizes if size is not None)
        amount = f"{known} bytes" if None not in sizes else f"more than {known} bytes"
        message = f"`{function.name}` uses {amount} of local memory per thread"
        yield Finding(variables[0].place, message)
        return
    for one in function.body.instructions:
        if one.opcode.text.startswith("alloca."):
            yield Finding(
                function.place(one.opcode),
                f"`{function.name}` allocates local memory with `alloca`",
            )
            return
