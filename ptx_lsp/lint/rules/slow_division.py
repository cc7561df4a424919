"""The rule `slow-division`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

_WIDE = frozenset({"div.u64", "div.s64", "rem.u64", "rem.s64"})
_NARROW = frozenset({"div.u32", "div.s32", "rem.u32", "rem.s32"})
_WAKE = InstructionWake(opcodes=("div", "rem"))


@instruction_rule("slow-division", code="P303", wake=_WAKE)
def slow_division(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A division that compiles to many instructions.

    ## What it does
    Reports 64-bit integer `div` and `rem`, also by a constant, and, as a hint, 32-bit ones by a value
    that is not constant, and `div.rn.f32`. ptxas turns a 32-bit division by a constant into a
    multiplication, but not a 64-bit one.

    ## Why it matters
    There is no division instruction. For sm_90, ptxas 13.5 generates about 70 instructions for a 64-bit
    division, 15 for a 32-bit one and 110 for `div.rn.f32`, most of which handle values near the ends of
    the range. `div.full.f32` takes only a few.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 n, .param .u64 out)
    {
        .reg .b64 %d<4>;
        ld.param.u64 %d0, [n];
        ld.param.u64 %d1, [out];
        div.u64 %d2, %d0, 8;
        rem.u64 %d3, %d0, 8;
        st.global.v2.b64 [%d1], {%d2, %d3};
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 n, .param .u64 out)
    {
        .reg .b64 %d<4>;
        ld.param.u64 %d0, [n];
        ld.param.u64 %d1, [out];
        shr.u64 %d2, %d0, 3;
        and.b64 %d3, %d0, 7;
        st.global.v2.b64 [%d1], {%d2, %d3};
        ret;
    }
    ```

    ## Fix safety
    The fix for unsigned numbers and powers of two is safe. The others have no fix.
    """
    opcode = instruction.opcode.text
    if not opcode.startswith(("div.", "rem.")) or len(instruction.operands) != 3:
        return
    divisor = instruction.operands[2]
    if opcode in _WIDE:
        message = f"`{opcode}` compiles to about 70 instructions"
        remedy = _remedy(function, instruction)
        yield Finding(function.place(instruction.opcode), message, fix=remedy, severity="info")
    elif opcode in _NARROW and not isinstance(divisor, nodes.Number):
        message = f"`{opcode}` compiles to about 15 instructions"
        yield Finding(function.place(instruction.opcode), message, severity="hint")
    elif opcode in ("div.rn.f32", "div.rn.ftz.f32"):
        message = (
            f"`{opcode}` compiles to many instructions; consider `div.full.f32`, which is "
            "faster but less exact"
        )
        yield Finding(function.place(instruction.opcode), message, severity="hint")


def _remedy(function: Function, instruction: nodes.Instruction) -> FixProposal | None:
    """A shift or mask in place of an unsigned division by a power of two."""
    opcode, divisor = instruction.opcode, instruction.operands[2]
    value = integer(divisor.text) if isinstance(divisor, nodes.Number) else None
    if value is None or value < 1 or value & (value - 1) or not opcode.text.endswith(".u64"):
        return None
    is_quotient = opcode.text.startswith("div")
    instead = "shr.u64" if is_quotient else "and.b64"
    constant = value.bit_length() - 1 if is_quotient else value - 1
    return FixProposal(
        f"Write `{instead}`",
        (
            Replacement(function.place(opcode), instead),
            Replacement(function.place(divisor), str(constant)),
        ),
    )
