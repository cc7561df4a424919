"""The rule `uninitialised-read`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.dataflow.definitions import definitions
from ptx_lsp.analyses.dataflow.used_bits import used_bits
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.analyses.well_formed import is_well_formed
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Register

_MOST = 3
"""Writes that are named."""


@function_rule("uninitialised-read", code="W230")
def uninitialised_read(function: Function) -> Iterator[Finding]:
    """A register that is read before it is written.

    ## What it does
    Reports the first read of a register that is not written on any path to it (a warning), or not on
    every path (information). It is also information if that read is the value that `shfl` gives to other
    lanes, or if no bit of the register is used, as where `mov` packs it into a larger one of which only the
    other half is used: compilers move and exchange undefined halves and padding of structures.

    Reads and writes under the same guard are matched, and so are the sides of a branch and code guarded by
    its predicate. Parameters have values. An accumulator that `wgmma` does not read, `xor` of a register
    with itself, and a source of `prmt` of which a constant selects no byte do not count as reads.

    ## Why it matters
    ptxas does not report it, and the register has an arbitrary value: results differ between runs,
    targets and versions of ptxas.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r<3>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        add.s32 %r2, %r0, %r1;
        st.global.b32 [%d], %r2;
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
        .reg .b32 %r<3>;
        .reg .b64 %d;
        ld.param.u64 %d, [out];
        mov.u32 %r0, %tid.x;
        mov.b32 %r1, 1;
        add.s32 %r2, %r0, %r1;
        st.global.b32 [%d], %r2;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended value is unknown.
    """
    if not is_well_formed(function):
        return
    flow = instructions(function)
    found = uninitialized_reads(function)
    writers = None if all(read.on_all_paths for read in found) else definitions(function)
    for read in found:
        register = flow.register(read.register)
        place = _mentions(function, read.instruction, register)[-1]
        if read.on_all_paths:
            message = f"`{register.name}` is read before it is written"
            is_passed_on = _is_passed_on(function, read.instruction, place)
            severity = "info" if is_passed_on or not used_bits(function, read.register) else None
            yield Finding(place, message, severity=severity)
            continue
        message = f"`{register.name}` may be read before it is written: not every path writes it"
        writing = dict.fromkeys(writers.of(read.register) if writers is not None else ())
        related = tuple(
            (_mentions(function, writer, register)[0], f"`{register.name}` is written here")
            for writer in [*writing][:_MOST]
        )
        yield Finding(place, message, related, severity="info")


def _is_passed_on(function: Function, number: int, place: Place) -> bool:
    """Whether the value at `place` is the one that a `shfl` gives to other lanes."""
    node = function.body.instructions[number]
    sources = node.operands[1:2] if node.opcode.text.startswith("shfl.") else ()
    return any(place == function.place(source) for source in sources)


def _mentions(function: Function, number: int, register: Register) -> list[Place]:
    """Where an instruction names `register`, what is read behind what is written."""
    node = function.body.instructions[number]
    operands = node.operands if node.guard is None else (node.guard.predicate, *node.operands)
    return [
        function.place(name)
        for operand in operands
        for name in names_in(operand)
        if function.body.symbols.get(name.start) is register
    ]
