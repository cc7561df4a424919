"""The rule `unused-register`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.deletion_edits import delete_register
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives
from ptx_lsp.model.instructions.uses import unused
from ptx_lsp.syntax import nodes

_BY_HABIT = frozenset({"%SP", "%SPL", "temp_param_reg"})


@function_rule(
    "unused-register", code="W201", tag="unnecessary",
    wake=having_directives(lambda function: function.body.registers),
)
def unused_register(function: Function) -> Iterator[Finding]:
    """A register that is never used.

    ## What it does
    Reports a declared register, or a range of which no register is used. Ranges are often larger than
    necessary, so partly used ones are not reported; neither are `%SP`, `%SPL` and `temp_param_reg`,
    which compilers always declare.

    ## Why it matters
    It costs nothing, but it may indicate a misspelt name.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r<4>;
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
    The fix removes the declaration. Another register may have been meant somewhere, so it is not applied
    by default.
    """
    if not is_well_formed(function):
        return
    for register in unused(function, function.body.registers):
        if register.name in _BY_HABIT:
            continue
        count = register.declarator.range
        shown = f"{register.name}<{count.text}>" if isinstance(count, nodes.Number) else register.name
        what = f"register `{shown}` is" if count is None else f"registers `{shown}` are"
        remedy = delete_register(function, register, shown)
        yield Finding(register.place, f"{what} declared but never used", fix=remedy)
