"""The figures of each kernel of a module, without ptxas."""

from __future__ import annotations

from math import prod

from ptx_lsp.lint.report import Kernel, Registers
from ptx_lsp.model.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.layout import parameter_bytes, shared_bytes
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes


def kernels(module: Module) -> list[Kernel]:
    """One row for each kernel that is defined, in order. What no analysis gives yet is None."""
    return [
        _kernel(module, function)
        for function in module.functions
        if function.is_kernel and function.symbol.is_definition and function.name
    ]


def _kernel(module: Module, function: Function) -> Kernel:
    source = module.document.source
    start = module.span(function.symbol.place).start
    threads, threads_source = _threads(function)
    return Kernel(
        function.name,
        source.line_of(start) + 1,
        str(module.target) if module.target else None,
        registers=Registers(limit=_number(function, ".maxnreg")),
        # what a called function declares counts too, and may lie in another file
        shared_bytes=None if calls(function) else shared_bytes(function),
        parameter_bytes=parameter_bytes(function),
        threads_per_block=threads,
        threads_source=threads_source,
    )


def _threads(function: Function) -> tuple[int | None, str | None]:
    """The size of a block that a directive fixes (`.reqntid`), else bounds (`.maxntid`)."""
    for name in (".reqntid", ".maxntid"):
        sizes = _numbers(function, name)
        if sizes:
            return prod(sizes), name[1:]
    return None, None


def _number(function: Function, name: str) -> int | None:
    numbers = _numbers(function, name)
    return numbers[0] if numbers else None


def _numbers(function: Function, name: str) -> list[int]:
    """The arguments of a performance directive; empty where it is not there or is not understood."""
    for directive in function.node.directives:
        if directive.name.text == name:
            found = [_value(argument) for argument in directive.arguments]
            known = [value for value in found if value is not None]
            return known if len(known) == len(found) else []
    return []


def _value(argument: nodes.Expression) -> int | None:
    """The value of a whole number as PTX writes it: decimal, 0x, 0b or with a leading 0 octal."""
    if not isinstance(argument, nodes.Number):
        return None
    digits = argument.text.upper().removesuffix("U")
    try:
        if digits.startswith(("0X", "0B")) or digits == "0":
            return int(digits, 0)
        return int(digits, 8 if digits.startswith("0") else 10)
    except ValueError:
        return None
