"""Calls that follow the ABI in machine code. All others are left to ptxas, which gives each callee a calling
convention of its own (`call_registers`).

1. A call through a register does. So does a call of a function without a body in this file.
2. A call of a function that calls itself, directly or through others, does; so does every call within such a
   cycle.

None of this is cached: it depends on other functions too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.call_graph import callees
from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import Literal

Reason = Literal["indirect", "external", "recursive"]


class OutOfLineCall(NamedTuple):
    """A `call` in `function` that follows the ABI."""

    function: Function
    call: Call
    reason: Reason


def out_of_line_calls(function: Function) -> Iterator[OutOfLineCall]:
    """The out-of-line calls of `function`, then the ones of its direct and indirect callees, each once."""
    reached = _reached(function)
    names = {name: [other.name for call in made for other in call.callees] for name, made in reached.items()}
    recursive = _recursive(names)
    for made in reached.values():
        for call in made:
            why = _reason(call, recursive)
            if why is not None:
                yield OutOfLineCall(call.function, call.call, why)


class _Call(NamedTuple):
    function: Function
    call: Call
    callees: tuple[Function, ...]


def _reached(function: Function) -> dict[str, list[_Call]]:
    """The calls of each function that `function` may reach, itself first, by name."""
    found: dict[str, list[_Call]] = {}
    waiting = [function]
    for caller in waiting:
        if caller.name not in found:
            made = callees(caller)
            found[caller.name] = [_Call(caller, call, made[call.node.start]) for call in calls(caller)]
            waiting += [other for call in found[caller.name] for other in call.callees]
    return found


def _recursive(called: dict[str, list[str]]) -> set[str]:
    """The functions that call themselves, directly or through others: the strongly connected components with
    a call inside (Tarjan, 1972), without recursion.
    """
    found: set[str] = set()
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_names: list[str] = []
    is_open: set[str] = set()
    for root in called:
        path = [(root, iter(called[root]))] if root not in order else []
        while path:
            name, rest = path[-1]
            if name not in order:
                order[name] = lowest[name] = len(order)
                open_names.append(name)
                is_open.add(name)
            other = next(rest, None)
            if other is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == order[name]:
                    component = _pop_component(open_names, name)
                    is_open.difference_update(component)
                    if len(component) > 1 or name in called[name]:
                        found.update(component)
            elif other not in order:
                path.append((other, iter(called[other])))
            elif other in is_open:
                lowest[name] = min(lowest[name], order[other])
    return found


def _pop_component(stack: list[str], name: str) -> list[str]:
    """Takes `name` and what is above it from a stack."""
    taken = [stack.pop()]
    while taken[-1] != name:
        taken.append(stack.pop())
    return taken


def _reason(call: _Call, recursive: set[str]) -> Reason | None:
    if call.call.table is not None:
        return "indirect"
    if not call.callees:
        return "external"
    return "recursive" if any(one.name in recursive for one in call.callees) else None
