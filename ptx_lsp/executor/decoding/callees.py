"""The possible callees of a module's calls, as far as the text determines them."""

from __future__ import annotations

from collections.abc import Sequence

from ptx_lsp.executor.decoding.runtime import is_provided
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.model.body import names_in
from ptx_lsp.model.calls.calls import Call, Formal, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.symbols import AliasName, FunctionName, TargetTable, defined_name
from ptx_lsp.syntax import nodes


def callee(call: Call, function: Function) -> Function | str | None:
    """The function that a call names, or its name if it belongs to the runtime; None for an indirect call.
    Raises ExecutionError if it has no body.
    """
    if call.table is not None:
        return None
    symbol, module = function.resolve(call.target), module_of(function)
    name = defined_name(symbol) if isinstance(symbol, FunctionName | AliasName) else call.target.text
    if name not in module.definitions and is_provided(name):
        return name
    if name not in module.definitions:
        raise ExecutionError(f"`{name}` is called but has no body in this file", "unsupported")
    return module.definitions[name]


def formals(
    call: Call, functions: Sequence[Function]
) -> tuple[Sequence[Formal], Sequence[Formal]]:
    """The parameters of the callee, return parameters first."""
    if call.callees:
        return call.callees[0].returns, call.callees[0].parameters
    for function in functions:
        body, node = function.body, function.node
        if (len(body.returns), len(body.parameters)) == (len(call.returns), len(call.arguments)):
            return _declared(function, node.returns), _declared(function, node.parameters)
    raise ExecutionError("the possible callees of this call are unknown", "unsupported")


def _declared(
    function: Function, declarations: tuple[nodes.Declaration, ...] | None
) -> list[Formal]:
    place = function.symbol.place
    return [
        Formal(declaration, declarator, place)
        for declaration in declarations or () for declarator in declaration.declarators
    ]


def addressed(module: Module) -> list[Function]:
    """The functions whose address is taken: by an instruction, an initial value or a list of targets."""
    named: set[str] = set()
    for function in module.functions:
        called = {call.target.start for call in calls(function) if call.table is None}
        for one in function.body.instructions:
            for operand in one.operands:
                for name in names_in(operand):
                    symbol = function.resolve(name)
                    if name.start not in called and isinstance(symbol, FunctionName | AliasName):
                        named.add(defined_name(symbol))
        for symbol in function.body.symbols.values():
            if isinstance(symbol, TargetTable):
                named.update(name.text for name in symbol.node.names)
    for variable in module.variables:
        value = variable.declarator.initializer
        if value is not None:
            for name in names_in(value):
                found = module.names.get(name.text)
                if found and isinstance(found[0][1], FunctionName | AliasName):
                    named.add(defined_name(found[0][1]))
    return [
        function for name, function in module.definitions.items()
        if name in named and not function.is_kernel
    ]
