"""Calls that stay calls in machine code: ptxas inlines the other ones.

1. A call through a register stays, and so does one of a function without a body in this file.
2. A call of a function that calls itself, directly or through others, stays; so does every call within
   such a circle.
3. ptxas may keep other calls, too, of large functions: those are not told.

None of this is kept as a fact: it depends on other functions too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from analyses.calls_made import calls_made
from ptx_lsp.model.calls import Call, calls
from ptx_lsp.model.function import Function

Why = Literal["indirect", "external", "recursive"]


class KeptCall(NamedTuple):
    """`call` stands in `function`."""

    function: Function
    call: Call
    why: Why


def kept_calls(function: Function) -> Iterator[KeptCall]:
    """Those of `function`, then those of the functions that it calls, each once."""
    seen = {function.name}
    waiting = [function]
    for caller in waiting:
        made = calls_made(caller)
        for call in calls(caller):
            reached = made.reached[call.node.start]
            why = _why(call, reached)
            if why is not None:
                yield KeptCall(caller, call, why)
            for other in reached:
                if other.name not in seen:
                    seen.add(other.name)
                    waiting.append(other)


def _why(call: Call, reached: tuple[Function, ...]) -> Why | None:
    if call.table is not None:
        return "indirect"
    if not reached:
        return "external"
    return "recursive" if any(calls_made(one).is_recursive for one in reached) else None
