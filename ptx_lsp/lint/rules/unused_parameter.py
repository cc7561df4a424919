"""The rule `unused-parameter`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives
from ptx_lsp.model.instructions.uses import unused


@function_rule(
    "unused-parameter", code="W202", tag="unnecessary",
    wake=having_directives(lambda function: function.body.parameters),
)
def unused_parameter(function: Function) -> Iterator[Finding]:
    """A parameter that is never read.

    ## What it does
    Reports, as a hint, a parameter that the body does not use. It need not be a mistake, because
    kernels, and functions visible to other files (`.visible`, `.weak`), are called with all their
    parameters.

    ## Why it matters
    Passing it costs space in the constant bank (kernels) or a register (functions). Often another
    parameter was read by mistake.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out, .param .u32 count)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        st.global.b32 [%d], 1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        st.global.b32 [%d], 1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: callers must change with the function.
    """
    if not is_well_formed(function):
        return
    for parameter in unused(function, function.body.parameters):
        message = f"parameter `{parameter.name}` of `{function.name}` is never used"
        yield Finding(parameter.place, message, severity="hint")
