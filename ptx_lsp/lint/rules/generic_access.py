"""The rule `generic-access`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.pointer_provenance import (
    POINTERS,
    PointerAccess,
    names_space,
    pointer_accesses,
)
from ptx_lsp.facts import collect_over_results
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function


@function_rule("generic-access", code="P304", wake=POINTERS)
def generic_access(function: Function) -> Iterator[Finding]:
    """A generic access to memory whose state space is known.

    ## What it does
    Reports `ld`, `st`, `atom` and `red` without a state space at an address that comes from
    `cvta.global` and similar instructions, from the name of a variable, or from a kernel parameter
    declared with `.ptr .global`.

    ## Why it matters
    A generic access determines its memory at run time, which takes longer, and ptxas must assume that it
    may access any memory.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 in, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        add.s64 %d2, %d0, 16;
        ld.b32 %r, [%d2];
        st.b32 [%d1+4], %r;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 .ptr .global .align 4 in, .param .u64 .ptr .global .align 4 out)
    {
        .reg .b32 %r;
        .reg .b64 %d<3>;
        ld.param.u64 %d0, [in];
        ld.param.u64 %d1, [out];
        add.s64 %d2, %d0, 16;
        ld.global.b32 %r, [%d2];
        st.global.b32 [%d1+4], %r;
        ret;
    }
    ```

    ## Fix safety
    For `.global`, whose addresses equal the generic ones, the fix adds the state space. It is safe if
    only constants have been added to the address. Addresses in other state spaces differ from the
    generic ones, so the instruction must also use the address before `cvta`.
    """
    yield from _findings(function)


@collect_over_results(pointer_accesses)
def _findings(function: Function, access: PointerAccess) -> Iterator[Finding]:
    origin, spelling = access.provenance, access.node.opcode.text
    if not origin.is_generic and origin.space != ".global":
        return
    if names_space(spelling):
        return
    place = opcode_part(function, access.node, 0)
    message = f"this access is generic, but its address is known to be in `{origin.space}` memory"
    remedy = _remedy(function, access) if origin.space == ".global" else None
    yield Finding(place, message, fix=remedy)


def _remedy(function: Function, access: PointerAccess) -> FixProposal | None:
    """Writes `.global` where the form has it."""
    node = access.node
    words = node.opcode.text.split(".")
    for index in range(1, len(words)):
        spelling = ".".join((*words[:index], "global", *words[index:]))
        candidates = resolve(spelling).candidates
        if candidates and not candidates[0].problems:
            end = opcode_part(function, node, index - 1).end
            replacement = Replacement(function.part(end, end), ".global")
            is_safe = access.provenance.offset is not None
            return FixProposal("Write `.global`", (replacement,), is_safe)
    return None
