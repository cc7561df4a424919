"""Sizes and alignments of variables and parameters in memory, in bytes.

ptxas places variables in the order of their declarations, each at the next multiple of its alignment. That is
the larger of its type's natural alignment and the declared one.
"""

from __future__ import annotations

from math import prod

from ptx_lsp.facts import fact
from ptx_lsp.isa.target import Version, effective
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.uses import unused
from ptx_lsp.model.module import Module
from ptx_lsp.model.scope import range_count
from ptx_lsp.model.symbols import Variable, element_type, vector_length
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import constant, integer

WARP_SIZE = 32
_DYNAMIC_ALIGNMENT = 16


def size_bytes(variable: Variable) -> int | None:
    """The size; None if the type or the length of an array is unknown. A range such as `x<4>` counts as one
    variable.
    """
    element = element_bytes(variable.declaration)
    lengths = dimensions(variable.declarator)
    if element is None or any(length is None for length in lengths):
        return None
    return element * prod(length for length in lengths if length is not None)


def alignment_bytes(variable: Variable) -> int | None:
    """The alignment; None if the type is unknown."""
    return declared_alignment(variable.declaration)


def address_alignment(variable: Variable) -> int | None:
    """The known alignment of the address of `variable`. Shared memory whose size the launch gives is aligned
    to at least 16.
    """
    alignment = alignment_bytes(variable)
    is_dynamic = variable.space == ".shared" and variable.is_unsized and variable.linkage == ".extern"
    return max(alignment, _DYNAMIC_ALIGNMENT) if alignment and is_dynamic else alignment


@fact
def parameter_bytes(function: Function) -> int | None:
    """The size of a kernel's parameters, as ptxas counts it against its limit, including padding; None if the
    size of one is unknown.
    """
    return _laid_out([p for p in function.body.parameters if isinstance(p, Variable)])


def parameter_limit(module: Module) -> int | None:
    """The most bytes of a kernel's parameters that ptxas accepts; None without a version or a target."""
    version, target = module.version, module.target
    if version is None or target is None:
        return None
    if effective(version) < Version(1, 5):
        return 256
    return 32_764 if version >= Version(8, 1) and target.number >= 70 else 4_352


def offset_bytes(function: Function, parameter: Variable) -> int | None:
    """The offset of `parameter` among the parameters or return parameters of `function`; None if the size of
    an earlier one is unknown.
    """
    body = function.body
    group = body.parameters if any(one is parameter for one in body.parameters) else body.returns
    before: list[Variable] = []
    for one in group:
        if one is parameter:
            end, alignment = _laid_out(before), alignment_bytes(parameter)
            return None if end is None or alignment is None else _aligned(end, alignment)
        if isinstance(one, Variable):
            before.append(one)
    return None


def shared_bytes(function: Function) -> int | None:
    """The static `.shared` memory of a kernel or function without its callees, as `ptxas -v` reports it; None
    if the size of a variable is unknown.

    The used variables of its body come first, then variables of the module, then the unused variables of its
    body. Memory whose size the launch gives (`.extern`) begins at the next multiple of its alignment or of
    16.
    """
    own = [v for v in function.body.variables if v.space == ".shared"]
    idle = list(unused(function, own))
    module = function.module
    named = [
        symbol
        for symbol in function.linked.values()
        if isinstance(symbol, Variable) and symbol.space == ".shared"
    ]
    named.sort(key=lambda variable: module.span(variable.place).start)
    static = _laid_out([
        *(v for v in own if v not in idle),
        *(v for v in named if v.linkage != ".extern"),
        *idle,
    ])
    if static is None:
        return None
    for variable in named:
        if variable.linkage == ".extern":
            static = _aligned(static, max(_DYNAMIC_ALIGNMENT, alignment_bytes(variable) or 1))
    return static


def local_bytes(function: Function) -> int | None:
    """The `.local` variables of a kernel or function without its callees; None if the size of one is unknown.
    ptxas keeps some of them in registers, and adds spills.
    """
    named = [symbol for symbol in function.linked.values() if isinstance(symbol, Variable)]
    return _laid_out([v for v in (*function.body.variables, *named) if v.space == ".local"])


def element_bytes(declaration: nodes.Declaration) -> int | None:
    """The bytes per array element; None for types that are never in memory, such as `.pred`."""
    type = TYPES.get(element_type(declaration))
    if type is None or type.kind in (Kind.PREDICATE, Kind.HANDLE):
        return None
    return type.bytes * vector_length(declaration)


def declared_alignment(declaration: nodes.Declaration) -> int | None:
    """The declared `.align` (the `.align` of a `.ptr` applies to the pointee), at least the natural alignment
    of the type; None if either is unknown.
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
    """Whether the `.align` belongs to `.ptr`. An `.align` before the `.ptr` is then lost."""
    stated = declaration.alignment
    return stated is not None and any(
        word.text == ".ptr" and word.start < stated.start for word in declaration.modifiers
    )


def dimensions(declarator: nodes.Declarator) -> tuple[int | None, ...]:
    """The lengths of an array, the outermost first; None for an unknown length. The initial value gives the
    length of `a[] = {1, 2}`.
    """
    found = stated_dimensions(declarator)
    if found and found[0] is None and isinstance(declarator.initializer, nodes.InitializerList):
        return (len(declarator.initializer.items), *found[1:])
    return found


def stated_dimensions(declarator: nodes.Declarator) -> tuple[int | None, ...]:
    """The lengths as written; None for `[]`, for the equivalent `[0]`, and for a length that is not a number.
    """
    return tuple(_length(size) for size in declarator.dimensions)


def _length(size: nodes.Expression | None) -> int | None:
    match size:
        case nodes.Number(text=text):
            return constant(text) or None
        case nodes.Name(text="WARP_SZ"):
            return WARP_SIZE
        case _:
            return None


def _laid_out(variables: list[Variable]) -> int | None:
    end = 0
    for variable in variables:
        size, alignment = size_bytes(variable), alignment_bytes(variable)
        if size is None or alignment is None:
            return None
        if variable.declarator.range is not None:
            size *= range_count(variable.declarator)
        end = _aligned(end, alignment) + size
    return end


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
