"""The rule `memory-limit`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate, chain

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.isa.device_limits import static_shared_limit
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import each_functions_directives, module_rule
from ptx_lsp.model.calls.compiled import compiled_with
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import LINKED, collect_over_functions, having_directives
from ptx_lsp.model.instructions.layout import parameter_bytes, parameter_limit, size_bytes
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.scope import range_count
from ptx_lsp.model.symbols import Variable
from ptx_lsp.named_tuple import NamedTuple

_CONSTANT_BYTES = 65_536
_COUNTED = 1 << 31
"""ptxas counts shared memory in 32 bits with a sign; it is not known what it takes a larger variable for."""


@module_rule("memory-limit", code="E120")
def memory_limit(module: Module) -> Iterator[Finding]:
    """A kernel or file that exceeds the memory limits of ptxas.

    ## What it does
    Reports kernels whose `.shared` variables, including those of the functions they call, exceed 49 152
    bytes (101 376 on sm_120a and sm_121a, 232 448 on other targets with `a`), files whose `.const`
    variables exceed 65 536 bytes, and kernel parameters that exceed the limit of the `.version` and
    `.target`. Only the sizes of variables count, without padding.

    ## Why it matters
    ptxas rejects them. For variables, it does so when it generates code, without a line number. ptxas
    12.9 has the limit of 49 152 bytes on every target, 13.5 the ones above.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .shared .align 16 .b8 tile[65536];
        st.shared.b32 [tile], 0;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .extern .shared .align 16 .b8 tile[];
    .entry kernel()
    {
        st.shared.b32 [tile], 0;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: larger shared memory must be requested at launch.
    """
    used = {one.function: one.variables for one in collect_over_functions(_shared, module, _WITH_VARIABLES)}
    if sum(map(_size, chain.from_iterable(used.values()))) > static_shared_limit(module.target):
        yield from _of_kernels(module, used)
    outside = (one for one in module.variables if isinstance(one, Variable) and one.space == ".const")
    every = _sized((*outside, *collect_over_functions(_constants, module)))
    yield from _too_much("the file", every, ".const", _CONSTANT_BYTES)
    yield from _of_parameters(module)


class _Shared(NamedTuple):
    """The `.shared` variables that a function declares or names."""

    function: str
    variables: tuple[Variable, ...]


_WITH_VARIABLES = LINKED | having_directives(lambda function: function.body.variables)


@fact
def _shared(function: Function) -> tuple[_Shared, ...]:
    named = (one for one in function.linked.values() if isinstance(one, Variable))
    found = tuple(one for one in (*function.body.variables, *named) if one.space == ".shared")
    return (_Shared(function.name, found),) if found else ()


def _of_kernels(module: Module, used: dict[str, tuple[Variable, ...]]) -> Iterator[Finding]:
    sized = {name: _sized(variables) for name, variables in used.items()}
    for kernel in module.functions:
        if kernel.is_kernel and kernel.symbol.is_definition:
            reached = compiled_with(module, (kernel,))
            variables: dict[int, _Sized] = {}
            for name in reached:
                variables |= sized.get(name, {})
            whose = f"the kernel `{kernel.name}`" + (
                ", including the functions it calls," if len(reached) > 1 else ""
            )
            yield from _too_much(whose, variables, ".shared", static_shared_limit(module.target))


@each_functions_directives
def _of_parameters(function: Function) -> Iterator[Finding]:
    size = parameter_bytes(function) if function.is_kernel and function.symbol.is_definition else None
    most = parameter_limit(module_of(function))
    if size is not None and most is not None and most < size % 2**32:
        message = f"the parameters of `{function.name}` have {size} bytes; the limit is {most}"
        yield Finding(function.symbol.place, message)


def _too_much(
    whose: str, variables: dict[int, _Sized], space: str, most: int
) -> Iterator[Finding]:
    """Told at the variable with which it is too much."""
    every = variables.values()
    total = sum([one.bytes for one in every])
    counted = (total + _COUNTED) % (2 * _COUNTED) - _COUNTED if space == ".shared" else total
    if counted <= most or any(one.bytes >= _COUNTED for one in every):
        return
    so_far = accumulate(one.bytes for one in every)
    first = next(one for one, bytes_used in zip(every, so_far, strict=True) if bytes_used > most)
    yield Finding(
        first.variable.place, f"{whose} has {total} bytes of `{space}` variables; the limit is {most}"
    )


class _Sized(NamedTuple):
    variable: Variable
    bytes: int


def _sized(variables: Iterable[Variable]) -> dict[int, _Sized]:
    """The variables with their sizes, by their declarations."""
    return {id(one.declarator): _Sized(one, _size(one)) for one in variables}


def _size(variable: Variable) -> int:
    """0 where it is not known, or the launch tells it."""
    return (size_bytes(variable) or 0) * (range_count(variable.declarator) or 1)


@directive_fact
def _constants(function: Function) -> tuple[Variable, ...]:
    return tuple(one for one in function.body.variables if one.space == ".const")
