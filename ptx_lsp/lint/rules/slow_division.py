"""The rule `slow-division`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding, Severity
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.syntax import nodes


@function_rule("slow-division", code="P303")
def slow_division(function: Function) -> Iterator[Finding]:
    """A division that takes many instructions.

    ## What it does
    Reports integer `div` and `rem` of 64 bits by something that is no constant; and, as a hint, those of 32
    bits, and `div.rn.f32`. Divisions by a constant become a multiplication in ptxas.

    ## Why it matters
    There is no instruction for it: an integer division of 64 bits becomes a call of about a hundred
    instructions, one of 32 bits takes about twenty, and the correctly rounded `div.rn.f32` has a branch for
    small and large values.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 n, .param .u64 m, .param .u64 out)
    {
        .reg .b64 %d<4>;
        ld.param.u64 %d0, [n];
        ld.param.u64 %d1, [m];
        ld.param.u64 %d2, [out];
        div.u64 %d3, %d0, %d1;
        st.global.b64 [%d2], %d3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u32 log_m, .param .u64 n, .param .u64 out)
    {
        .reg .b32 %r;
        .reg .b64 %d<4>;
        ld.param.u64 %d0, [n];
        ld.param.u32 %r, [log_m];
        ld.param.u64 %d2, [out];
        shr.u64 %d3, %d0, %r;
        st.global.b64 [%d2], %d3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: only the author knows which values occur.
    """
    for instruction, _ in function.body.instructions:
        spelling = instruction.opcode.text
        if not spelling.startswith(("div.", "rem.")) or len(instruction.operands) != 3:
            continue
        found = _judged(spelling)
        if found is None or isinstance(instruction.operands[2], nodes.Number):
            continue
        message, severity = found
        yield Finding(function.place(instruction.opcode), message, severity=severity)


def _judged(spelling: str) -> tuple[str, Severity] | None:
    words = spelling.split(".")
    if words[-1] in ("u64", "s64"):
        return (
            f"`{words[0]}` of 64 bits takes about a hundred instructions; "
            "use 32 bits where the values fit, or a shift where the divisor is a power of two"
        ), "info"
    if words[-1] in ("u32", "s32"):
        return f"`{words[0]}` of 32 bits takes about twenty instructions", "hint"
    if spelling.startswith("div.rn.") and words[-1] == "f32":
        return "`div.rn.f32` takes a slow path for some values; `div.full.f32` does not", "hint"
    return None
