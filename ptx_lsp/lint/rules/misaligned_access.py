"""The rule `misaligned-access`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions.access import VARIABLE_ACCESS, StaticAccess, accesses
from ptx_lsp.model.instructions.layout import address_alignment

_SPACES = frozenset({".shared", ".global", ".const", ".local"})
"""Not `.param`: ptxas decides where parameters are."""


@function_rule("misaligned-access", code="W203", wake=woken_by(VARIABLE_ACCESS))
def misaligned_access(function: Function) -> Iterator[Finding]:
    """An access to a variable that is not known to be sufficiently aligned.

    ## What it does
    An address must be a multiple of the size of the access, which for a vector is the size of all its
    elements. Reports accesses at a variable, or at a constant offset from it, if the alignment of the
    variable does not guarantee this or the offset rules it out.

    ## Why it matters
    ptxas does not report it. If the address is not a multiple, the kernel fails with `misaligned
    address`. If it happens to be one, a change elsewhere in the file may move it.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 4 .b8 tile[64];
    .entry kernel()
    {
        .reg .b32 %r<4>;
        ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [tile+16];
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .shared .align 16 .b8 tile[64];
    .entry kernel()
    {
        .reg .b32 %r<4>;
        ld.shared.v4.b32 {%r0, %r1, %r2, %r3}, [tile+16];
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the alignment, the offset or the size of the access may be wrong.
    """
    for access in accesses(function):
        variable = access.variable
        if variable.space not in _SPACES or variable.is_parameter:
            continue
        alignment = address_alignment(variable)
        if alignment is None or access.size < 2:
            continue
        if access.offset % access.size or alignment % access.size:
            related = ((variable.place, f"`{variable.name}` is declared here"),)
            yield Finding(function.place(access.address), _message(access, alignment), related)


def _message(access: StaticAccess, alignment: int) -> str:
    name, size = access.variable.name, access.size
    needs = f"an access of {size} bytes requires an address that is a multiple of {size}"
    declare = f"`{name}` is only aligned to {alignment}; declare it with `.align {size}`"
    if access.offset % size == 0:
        return f"{needs}; {declare}"
    before = access.offset - access.offset % size
    here, lower, upper = (_at(name, offset) for offset in (access.offset, before, before + size))
    if alignment % size:
        return f"{needs}; {declare}, and access {lower} or {upper} instead of {here}"
    return (
        f"{needs}; `{name}` is aligned to {alignment}, so use {lower} or {upper} instead of {here}"
    )


def _at(name: str, offset: int) -> str:
    return f"`{name}{offset:+}`" if offset else f"`{name}`"
