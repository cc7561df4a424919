"""The rule `slow-double`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.syntax import nodes

_SLOW = frozenset({50, 52, 53, 61, 62, 75, 86, 89, 120, 121})
"""CUDA C++ Programming Guide, "Arithmetic Instructions": 2 to 4 results a clock, of floats 64 to 128."""
_ARITHMETIC = frozenset({"add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt"})

_DOUBLE = InstructionWake(_ARITHMETIC, spelled=lambda spelling: spelling.endswith(".f64"))


@function_rule("slow-double", code="P305", wake=woken_by(_DOUBLE), words=("f64",))
def slow_double(function: Function) -> Iterator[Finding]:
    """Double precision on a target where it is slow.

    ## What it does
    Reports the first `.f64` arithmetic instruction of a function, for targets whose SMs execute at most
    one double-precision operation in the time of 32 single-precision ones.

    ## Why it matters
    A few such operations can take longer than the rest of the kernel. They often come from a constant
    without an `f` suffix.

    ## Example
    ```ptx
    .version 8.5
    .target sm_89
    .address_size 64
    .visible .entry kernel(.param .f64 x, .param .u64 out)
    {
        .reg .b64 %d;
        .reg .f64 %x;
        ld.param.f64 %x, [x];
        ld.param.u64 %d, [out];
        mul.rn.f64 %x, %x, 0d3FE0000000000000;
        st.global.f64 [%d], %x;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_89
    .address_size 64
    .visible .entry kernel(.param .f32 x, .param .u64 out)
    {
        .reg .b64 %d;
        .reg .f32 %x;
        ld.param.f32 %x, [x];
        ld.param.u64 %d, [out];
        mul.rn.f32 %x, %x, 0f3F000000;
        st.global.f32 [%d], %x;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: only the author knows the required precision.
    """
    target = function.module.target
    if target is None or target.number not in _SLOW:
        return
    found = _opcodes(function)
    for first in found[:1]:
        count = f", and {len(found) - 1} more" if len(found) > 1 else ""
        message = (
            f"`{first.text}`{count}: double precision is at least 32 times slower than single "
            f"on {target}"
        )
        yield Finding(function.place(first), message)


@collect_over_instructions(_DOUBLE)
def _opcodes(_: Function, instruction: nodes.Instruction) -> Iterator[nodes.Opcode]:
    yield instruction.opcode
