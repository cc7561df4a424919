"""The dynamic shared memory of a kernel: `.extern .shared` variables, whose size the launch gives."""

from __future__ import annotations

from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import module_of
from ptx_lsp.model.symbols import FunctionName, Variable


def uses_dynamic_shared(function: Function) -> bool:
    """Whether a function or one that it calls names dynamic shared memory. Of indirect calls, those count
    whose targets are listed.
    """
    definitions = module_of(function).definitions
    seen = {function.name}
    waiting = [function]
    for caller in waiting:
        if any(is_dynamic_shared(one) for one in caller.linked.values()):
            return True
        for call in calls(caller):
            for callee in call.callees:
                name = callee.name
                if isinstance(callee.symbol, FunctionName) and name in definitions and name not in seen:
                    seen.add(name)
                    waiting.append(definitions[name])
    return False


def is_dynamic_shared(symbol: object) -> bool:
    """Whether a symbol is a variable in dynamic shared memory."""
    return isinstance(symbol, Variable) and symbol.space == ".shared" and symbol.linkage == ".extern"
