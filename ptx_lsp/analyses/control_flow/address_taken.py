"""The functions that ptxas expects a kernel to call through addresses.

1. The address of a function is taken if an initial value of a variable of the module names it, or an
   instruction that does not call it.
2. Such functions are expected of a kernel that calls through a register, and of one that takes an address
   itself, or names a variable that has one; so they are of a kernel that calls a function which does. It
   makes no difference which functions a call prototype or a list of targets describes, nor which address the
   kernel has: all functions whose address is taken are expected.

Source: ptxas 13.5 reports the registers of the largest of these functions for such kernels, for sm_75 to
sm_120.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.call_graph import callees
from ptx_lsp.facts import fact, module_fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.calls.indirect import description
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.symbols import TargetTable, Variable
from ptx_lsp.syntax import nodes


def may_call_through_addresses(function: Function) -> bool:
    """Whether ptxas expects `function` to call those whose address is taken (2)."""
    module = module_of(function)
    return any(_has_addresses(one, module) for one in _reached(function))


@module_fact
def address_taken(module: Module) -> tuple[str, ...]:
    """The names of the functions that the module defines and whose address is taken (1), sorted."""
    names = set(_in_initial_values(module))
    for one in module.functions:
        names.update(_named(one))
    return tuple(sorted(name for name in names if _is_function(module, name)))


def _has_addresses(function: Function, module: Module) -> bool:
    if any(call.table is not None for call in calls(function)):
        return True
    for name in _named(function):
        found = module.find(name, function.item.start)
        if isinstance(found, Variable):
            value = found.declarator.initializer
            if value is not None and any(_is_function(module, one.text) for one in names_in(value)):
                return True
        elif _is_function(module, name):
            return True
    return False


def _reached(function: Function) -> list[Function]:
    """A function and those that it calls by name, and so on."""
    found = {function.name: function}
    waiting = [function]
    while waiting:
        for others in callees(waiting.pop()).values():
            for other in others:
                if other.name not in found:
                    found[other.name] = other
                    waiting.append(other)
    return list(found.values())


@fact
def _named(function: Function) -> frozenset[str]:
    """The names of the module that a function uses other than to call them or to list them for a call."""
    others: set[int] = set()
    for call in calls(function):
        others.add(call.target.start)
        described = description(function, call)
        if isinstance(described, TargetTable):
            others.update(name.start for name in described.node.names)
    return frozenset(
        name
        for name, uses in function.free.items()
        if any(one.name.start not in others for one in uses)
    )


def _in_initial_values(module: Module) -> Iterator[str]:
    for item in module.outside:
        if isinstance(item.node, nodes.Declaration):
            for declarator in item.node.declarators:
                if declarator.initializer is not None:
                    for name in names_in(declarator.initializer):
                        yield name.text


def _is_function(module: Module, name: str) -> bool:
    return name in module.definitions and not module.definitions[name].is_kernel
