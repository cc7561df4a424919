"""The rule `narrow-pointer`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.fixes.widening import widen
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.syntax import nodes


@function_rule("narrow-pointer", code="E187", wake=FAILED_CHECKS)
def narrow_pointer(function: Function) -> Iterator[Finding]:
    """A 32-bit address where addresses have 64 bits.

    ## What it does
    Unless the file has `.address_size 32`, reports 32-bit registers used as generic addresses or addresses in
    `.global`, `cvta` with `.u32`, and a 32-bit `mov` of the address of a `.global` variable. Addresses
    in `.shared`, `.local`, `.const` and `.param` may have 32 bits, and so may those of asynchronous
    copies and matrices.

    ## Why it matters
    ptxas treats the whole program as a 32-bit one and rejects it when it generates code: `32-Bit
    compilation is no longer supported`. Before that it does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel(.param .u64 values)
    {
        .reg .b32 %value;
        .reg .b32 %low;
        .reg .b64 %address;
        ld.param.u64 %address, [values];
        cvt.u32.u64 %low, %address;
        ld.global.b32 %value, [%low];
        st.global.b32 [%address+4], %value;
        st.shared.b32 [%low], %value;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel(.param .u64 values)
    {
        .reg .b32 %value;
        .reg .b32 %low;
        .reg .b64 %address;
        ld.param.u64 %address, [values];
        cvt.u32.u64 %low, %address;
        ld.global.b32 %value, [%address];
        st.global.b32 [%address+4], %value;
        st.shared.b32 [%low], %value;
        ret;
    }
    ```

    ## Fix safety
    There is a fix if the register is a 64-bit one truncated by `cvt.u32.u64`, or if everything that uses
    it accepts 64 bits, so that its declaration is too narrow. It is not applied by default, because the
    program then uses the upper half of the address.
    """
    for instruction, verdict in checks(function):
        for problem in verdict.problems:
            if problem.kind != "narrow-pointer":
                continue
            operand = instruction.operands[problem.index]
            place, related = operand_or_line(function, instruction, operand)
            base = _base(operand)
            remedy = widen(function, instruction, base) if base is not None else None
            yield Finding(place, problem.message, related, remedy)


def _base(operand: nodes.Operand) -> nodes.Name | None:
    """The register in an address: `%r` in `[%r+4]`."""
    match operand:
        case nodes.Address(items=(nodes.Name() as name, *_)):
            return name
        case nodes.Address(items=(nodes.Binary(left=nodes.Name() as name), *_)):
            return name
        case _:
            return None
