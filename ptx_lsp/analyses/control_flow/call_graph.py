"""The call graph around one function: the functions that it calls, where they are known.

1. A direct call names a function; a call through a list of targets may reach each of them; any other call
   through a register may reach anything.
2. A function is recursive if a chain of calls leads back to it.
3. A call is external if it may reach a function that the module does not define.

None of this is cached: it depends on other functions too.
"""

from __future__ import annotations

from ptx_lsp.model.calls.calls import Call, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import module_of
from ptx_lsp.model.symbols import FunctionName
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class CallGraphNode:
    """The calls of one function. `callees` maps the start of a call to the functions of the module that it
    may reach.
    """

    __slots__ = ("callees", "has_external", "has_indirect", "is_recursive")

    def __init__(
        self,
        callees: dict[int, tuple[Function, ...]],
        has_indirect: bool,
        has_external: bool,
        is_recursive: bool,
    ) -> None:
        self.callees: Final = callees
        self.has_indirect: Final = has_indirect
        self.has_external: Final = has_external
        self.is_recursive: Final = is_recursive


def call_graph_node(function: Function) -> CallGraphNode:
    """The calls of `function`, and whether it is recursive."""
    reached = callees(function)
    return CallGraphNode(
        reached,
        has_indirect=any(call.table is not None for call in calls(function)),
        has_external=any(
            call.table is None and not reached[call.node.start] for call in calls(function)
        ),
        is_recursive=_is_recursive(function),
    )


def callees(function: Function) -> dict[int, tuple[Function, ...]]:
    """The functions of the module that each call may reach, by the start of the call."""
    return {call.node.start: _callees(function, call) for call in calls(function)}


def _callees(function: Function, call: Call) -> tuple[Function, ...]:
    definitions = module_of(function).definitions
    names = [c.symbol.name for c in call.callees if isinstance(c.symbol, FunctionName)]
    return tuple(definitions[name] for name in dict.fromkeys(names) if name in definitions)


def _is_recursive(function: Function) -> bool:
    seen: set[int] = set()
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        for call in calls(caller):
            for other in _callees(caller, call):
                if other.symbol is function.symbol:
                    return True
                if id(other) not in seen:
                    seen.add(id(other))
                    waiting.append(other)
    return False
