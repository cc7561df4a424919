"""The rule `undescribed-callee`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.indirect import indirect_calls, undescribed
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes
from ptx_lsp.model.symbols import Prototype


@function_rule("undescribed-callee", code="W219", wake=opcodes("call"))
def undescribed_callee(function: Function) -> Iterator[Finding]:
    """An indirect call to a function that its list or prototype does not describe.

    ## What it does
    If the callee of an indirect call is known, looks for it in the `.calltargets` list, or compares the
    number, sizes and kinds of its parameters and results with the `.callprototype`.

    ## Why it matters
    The caller passes its arguments according to the list or prototype, but the function expects them
    elsewhere: the behaviour is undefined. ptxas does not report it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func one() { ret; }
    .func other() { ret; }
    .entry kernel()
    {
        .reg .b64 %rd;
        mov.b64 %rd, other;
    targets: .calltargets one;
        call %rd, targets;
        call one;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func one() { ret; }
    .func other() { ret; }
    .entry kernel()
    {
        .reg .b64 %rd;
        mov.b64 %rd, other;
    targets: .calltargets one, other;
        call %rd, targets;
        call one;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: either the address or the list may be wrong.
    """
    for found in indirect_calls(function):
        why = undescribed(function, found.described, found.callee.node)
        if why is None or found.call.table is None:
            continue
        kind = "prototype" if isinstance(found.described, Prototype) else "list"
        yield Finding(
            function.place(found.call.table),
            f"the {kind} `{found.described.name}` does not match `{found.callee.name}`: {why}",
            (
                (found.described.place, f"the {kind}"),
                (
                    function.place(found.address),
                    f"the address of `{found.callee.name}` is taken here",
                ),
            ),
        )
