"""The rule `wrong-guard`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import argument
from ptx_lsp.model.instructions.features import UNUSUAL_GUARD
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.syntax import nodes

_WAKE = InstructionWake(features=UNUSUAL_GUARD)


@instruction_rule("wrong-guard", code="E170", wake=_WAKE)
def wrong_guard(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A guard `@p` that is not a predicate.

    ## What it does
    Reports guards that are registers of a type other than `.pred`, or not registers at all.

    ## Why it matters
    ptxas rejects it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        mov.b32 %r0, 1;
        @%r0 mov.b32 %r1, 2;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<2>;
        .reg .pred %p;
        mov.b32 %r0, 1;
        setp.ne.s32 %p, %r0, 0;
        @%p mov.b32 %r1, 2;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended predicate is unknown.
    """
    if instruction.guard is None:
        return
    predicate = instruction.guard.predicate
    if isinstance(predicate, nodes.Member):
        return  # a syntax error
    given = argument(function, predicate)
    if given.kind == "unknown" or given.type == ".pred":
        return
    what = f"a register of type `{given.type}`" if given.kind == "register" else f"a {given.kind}"
    yield Finding(function.place(predicate), f"a guard must be a predicate, not {what}")
