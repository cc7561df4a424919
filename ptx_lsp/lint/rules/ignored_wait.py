"""The rule `ignored-wait`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes


@function_rule("ignored-wait", code="W246", wake=opcodes("mbarrier"))
def ignored_wait(function: Function) -> Iterator[Finding]:
    """A test of an mbarrier whose result is never read.

    ## What it does
    Reports `mbarrier.try_wait` and `mbarrier.test_wait` whose predicate is never read.

    ## Why it matters
    `try_wait` waits for a limited time, and `test_wait` does not wait. Without a test of the predicate, the
    thread goes on before the phase is complete. That happens rarely, so the data is almost always right.

    ## Example
    ```ptx
    .version 8.0
    .target sm_90
    .address_size 64
    .shared .align 8 .b64 full;
    .shared .align 4 .b32 value;
    .visible .entry kernel(.param .u64 out)
    {
        .reg .pred %done;
        .reg .b32 %r;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mbarrier.try_wait.parity.shared.b64 %done, [full], 0;
        ld.shared.b32 %r, [value];
        st.global.b32 [%d], %r;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_90
    .address_size 64
    .shared .align 8 .b64 full;
    .shared .align 4 .b32 value;
    .visible .entry kernel(.param .u64 out)
    {
        .reg .pred %done;
        .reg .b32 %r;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
    wait:
        mbarrier.try_wait.parity.shared.b64 %done, [full], 0;
        @!%done bra wait;
        ld.shared.b32 %r, [value];
        st.global.b32 [%d], %r;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: a loop needs a label, and something else may have to be done while waiting.
    """
    tests = _tests(function)
    if not tests or not is_well_formed(function):
        return
    lives = liveness(function)
    for step in tests:
        if lives.after(step.number).isdisjoint(step.defs):
            message = f"the result of this `{step.spelling}` is never read: the phase may not be complete"
            yield Finding(opcode_part(function, step.node, 0), message)


_TESTS = ("mbarrier.try_wait", "mbarrier.test_wait")
_tests = instructions_matching(lambda spelling: spelling.startswith(_TESTS))
