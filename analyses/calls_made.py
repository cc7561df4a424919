"""Which functions a function calls, as far as they are known: the call graph around it.

1. A direct call names a function; a call through a list of targets may reach each of them; any other call
   through a register may reach anything.
2. A function is recursive where some way of calls leads back to it.
3. A function is external where the module has no definition of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from ptx_lsp.facts import fact
from ptx_lsp.model.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import FunctionName


@dataclass(frozen=True)
class CallsMade:
    """What one function calls. `by_step` has, where each call begins, the functions that it may reach and
    that the module defines.
    """

    by_start: dict[int, tuple[Function, ...]]
    has_indirect: bool
    has_external: bool
    is_recursive: bool


@fact
def calls_made(function: Function) -> CallsMade:
    """The calls of `function`, and whether they lead back to it."""
    by_start: dict[int, tuple[Function, ...]] = {}
    indirect = external = False
    for call in calls(function):
        reached = _reached(function, call)
        by_start[call.node.start] = reached
        indirect = indirect or call.table is not None
        external = external or (call.table is None and not reached)
    return CallsMade(by_start, indirect, external, _leads_back(function))


def _reached(function: Function, call: Call) -> tuple[Function, ...]:
    names = {c.symbol.name for c in call.callees if isinstance(c.symbol, FunctionName)}
    return tuple(_definitions(function, names))


def _definitions(function: Function, names: set[str]) -> list[Function]:
    return [
        other
        for name in sorted(names)
        for other in function.module.definitions.get(name, ())
    ]


def _leads_back(function: Function) -> bool:
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        for call in calls(waiting.pop()):
            for other in _reached(function, call):
                if other is function:
                    return True
                if id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)
    return False
