"""The rule `prototype-promise`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.indirect import indirect_calls
from ptx_lsp.model.calls.prototype import promise_difference
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes
from ptx_lsp.model.symbols import Prototype


@function_rule("prototype-promise", code="W217", wake=opcodes("call"))
def prototype_promise(function: Function) -> Iterator[Finding]:
    """A call prototype whose attributes differ from those of the called function.

    ## What it does
    If the callee of an indirect call is known, compares its `.noreturn`, `.abi_preserve` and
    `.abi_preserve_control` with those of the `.callprototype`.

    ## Why it matters
    The caller keeps values in registers that the function does not preserve, or has no code after the
    call. ptxas does not report it.

    ## Example
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .func step() .abi_preserve 8
    {
        ret;
    }
    .entry kernel()
    {
        .reg .b64 %rd<2>;
        mov.b64 %rd1, step;
    prototype: .callprototype _ ();
        call %rd1, prototype;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 9.0
    .target sm_90
    .address_size 64
    .func step() .abi_preserve 8
    {
        ret;
    }
    .entry kernel()
    {
        .reg .b64 %rd<2>;
        mov.b64 %rd1, step;
    prototype: .callprototype _ () .abi_preserve 8;
        call %rd1, prototype;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: several functions may be called through one prototype.
    """
    for found in indirect_calls(function):
        if not isinstance(found.described, Prototype):
            continue
        different = promise_difference(found.callee.node, found.described.node)
        if different is None or found.call.table is None:
            continue
        name, callee = found.described.name, found.callee.name
        yield Finding(
            function.place(found.call.table),
            f"the prototype `{name}` does not match `{callee}`: {different.message}",
            (
                (found.described.place, "the prototype"),
                (function.place(found.address), f"the address of `{callee}` is taken here"),
            ),
        )
