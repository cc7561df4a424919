"""Sizes and alignments of variables and parameters in memory, in bytes.

As ptxas lays them out: in the order of their declarations, each at the next multiple of its alignment,
which is the natural one of its type or the stated one, whichever is larger.
"""

from __future__ import annotations

from math import prod

from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.scope import integer, range_count
from ptx_lsp.model.symbols import Variable, element_type, vector_length
from ptx_lsp.syntax import nodes

WARP_SIZE = 32


def size_bytes(variable: Variable) -> int | None:
    """None where the type is not known, or the size of an array is not. A range such as `x<4>` counts as
    one variable.
    """
    element = element_bytes(variable.declaration)
    lengths = dimensions(variable.declarator)
    if element is None or any(length is None for length in lengths):
        return None
    return element * prod(length for length in lengths if length is not None)


def alignment_bytes(variable: Variable) -> int | None:
    """None where the type is not known."""
    return declared_alignment(variable.declaration)


def parameter_bytes(function: Function) -> int | None:
    """The parameters of a kernel, as ptxas counts them against its limit, paddings between them
    included; None where the size of one is not known.
    """
    return _laid_out([p for p in function.body.parameters if isinstance(p, Variable)])


def shared_bytes(function: Function) -> int | None:
    """The `.shared` variables that a kernel or function declares, then those of the module that it names;
    without those that are `.extern`, whose size the launch tells, and without what it calls.
    """
    found = [v for v in function.body.variables if v.space == ".shared"]
    found += [
        symbol
        for symbol in function.linked.values()
        if isinstance(symbol, Variable) and symbol.space == ".shared" and symbol.linkage != ".extern"
    ]
    return _laid_out(found)


def element_bytes(declaration: nodes.Declaration) -> int | None:
    """Of one element of an array; None for types that are in no memory, such as `.pred`."""
    type = TYPES.get(element_type(declaration))
    if type is None or type.kind in (Kind.PREDICATE, Kind.HANDLE):
        return None
    return type.bytes * vector_length(declaration)


def declared_alignment(declaration: nodes.Declaration) -> int | None:
    """What `.align` says (the `.align` of a `.ptr` speaks of what is pointed to), and at least the natural
    alignment of the type; None where either is not known.
    """
    natural = element_bytes(declaration)
    stated = declaration.alignment
    if natural is None or stated is None:
        return natural
    if has_pointer_alignment(declaration):
        return natural
    value = integer(stated.text) if isinstance(stated, nodes.Number) else None
    return None if not value else max(value, natural)


def has_pointer_alignment(declaration: nodes.Declaration) -> bool:
    """Whether the `.align` is that of `.ptr`. One before it is then not known any more."""
    stated = declaration.alignment
    return stated is not None and any(
        word.text == ".ptr" and word.start < stated.start for word in declaration.modifiers
    )


def dimensions(declarator: nodes.Declarator) -> tuple[int | None, ...]:
    """The lengths of an array, the outermost first; None for one that is not known. The initial value
    gives that of `a[] = {1, 2}`.
    """
    found: list[int | None] = []
    for size in declarator.dimensions:
        match size:
            case nodes.Number(text=text):
                found.append(integer(text) or None)
            case nodes.Name(text="WARP_SZ"):
                found.append(WARP_SIZE)
            case _:
                found.append(None)
    if found and found[0] is None and isinstance(declarator.initializer, nodes.InitializerList):
        found[0] = len(declarator.initializer.items)
    return tuple(found)


def _laid_out(variables: list[Variable]) -> int | None:
    end = 0
    for variable in variables:
        size, alignment = size_bytes(variable), alignment_bytes(variable)
        if size is None or alignment is None:
            return None
        if variable.declarator.range is not None:
            size *= range_count(variable.declarator)
        end = -(-end // alignment) * alignment + size
    return end
