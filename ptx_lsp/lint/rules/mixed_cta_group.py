"""The rule `mixed-cta-group`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.analyses.instructions.opcode_index import instructions_matching
from ptx_lsp.facts import fact
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.calls.compiled import addressed, compiled_with
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, opcodes
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple

_TENSOR = opcodes("tcgen05")
_grouped = instructions_matching(
    lambda spelling: spelling.startswith("tcgen05.") and ".cta_group::" in spelling
)


@module_rule("mixed-cta-group", code="E195", wake=_TENSOR)
def mixed_cta_group(module: Module) -> Iterator[Finding]:
    """`tcgen05` instructions of a kernel for one block and for pairs of blocks.

    ## What it does
    Reports a `tcgen05` instruction whose `.cta_group` is not that of the first one in the kernel, and
    kernels that mix both through functions: those that they call, and, if the kernel has any such
    instruction, takes an address or calls through one, all whose address is taken in the file.

    ## Why it matters
    ptxas rejects it: all `tcgen05` instructions of a kernel must have the same `.cta_group`, also those
    that are never reached. In functions that no kernel can call, ptxas accepts both.

    ## Example
    ```ptx
    .version 9.0
    .target sm_100a
    .address_size 64
    .visible .entry kernel()
    {
        .reg .b32 %r;
        .shared .b32 slot;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
        ld.shared.b32 %r, [slot];
        tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r, 32;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 9.0
    .target sm_100a
    .address_size 64
    .visible .entry kernel()
    {
        .reg .b32 %r;
        .shared .b32 slot;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
        ld.shared.b32 %r, [slot];
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r, 32;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: whether the kernel is for pairs of blocks is unknown.
    """
    every: dict[str, list[_Grouped]] = {}
    for one in collect_over_functions(_of_function, module, _TENSOR):
        every.setdefault(one.function, []).append(one)
    if len({one.group for each in every.values() for one in each}) < 2:
        return
    for kernel in module.functions:
        if kernel.is_kernel and kernel.symbol.is_definition:
            own = every.get(kernel.name, [])
            if any(one.group != own[0].group for one in own):
                yield from _inside(own)
            else:
                yield from _through_calls(module, kernel, every)


class _Grouped(NamedTuple):
    function: str
    group: str
    place: Place


@fact
def _of_function(function: Function) -> tuple[_Grouped, ...]:
    found: list[_Grouped] = []
    for one in _grouped(function):
        words = one.spelling.split(".")
        at = next((at for at, word in enumerate(words) if word.startswith("cta_group::")), 0)
        found.append(_Grouped(function.name, words[at], opcode_part(function, one.node, at)))
    return tuple(found)


def _inside(own: list[_Grouped]) -> Iterator[Finding]:
    for one in own:
        if one.group != own[0].group:
            yield Finding(
                one.place,
                f"`.{one.group}`, but the first `tcgen05` instruction of the kernel has `.{own[0].group}`",
            )


def _through_calls(
    module: Module, kernel: Function, every: dict[str, list[_Grouped]]
) -> Iterator[Finding]:
    known = _first_of_each(compiled_with(module, (kernel,)), every)
    if known:
        known |= _first_of_each(addressed(module), every, known)
    if len(known) > 1:
        groups = " and ".join(f"`.{group}`" for group in sorted(known))
        related = tuple((one.place, f"`.{one.group}` in `{one.function}`") for one in known.values())
        yield Finding(
            kernel.symbol.place,
            f"the kernel `{kernel.name}` and the functions it can call have `tcgen05` instructions with "
            f"{groups}: all must have the same",
            related,
        )


def _first_of_each(
    functions: Iterable[str], every: dict[str, list[_Grouped]], known: Iterable[str] = ()
) -> dict[str, _Grouped]:
    """The first instruction with each group that is not known."""
    found: dict[str, _Grouped] = {}
    for name in functions:
        for one in every.get(name, ()):
            if one.group not in known:
                found.setdefault(one.group, one)
    return found
