"""The rule `call-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.anchoring import Related, operand_or_line
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.argument_match import ArgumentMismatch, argument_mismatch
from ptx_lsp.model.calls.calls import Call, Callee, Formal, calls
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import opcodes
from ptx_lsp.model.place import Located
from ptx_lsp.model.symbols import (
    AggregateName,
    AliasName,
    FunctionName,
    Predefined,
    Prototype,
    Register,
    Symbol,
    TargetTable,
    Variable,
)
from ptx_lsp.syntax import nodes

_TABLE = "the label of a `.callprototype` or `.calltargets`"


@function_rule("call-mismatch", code="E115", wake=opcodes("call"))
def call_mismatch(function: Function) -> Iterator[Finding]:
    """A call that does not match its callee.

    ## What it does
    Compares each `call` with the declaration of the function, with the `.callprototype`, or with every
    function of the `.calltargets` list: the number of arguments and results, and the type, size,
    alignment and state space of each. Also reports calls of something other than a function, and calls
    through an address without a prototype.

    ## Why it matters
    ptxas rejects such a call, but names neither the argument nor the declaration.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .extern .func (.param .b32 result) twice(.param .b32 value);
    .entry kernel()
    {
        .param .b32 result;
        .param .b64 value;
        call.uni (result), twice, (value);
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .extern .func (.param .b32 result) twice(.param .b32 value);
    .entry kernel()
    {
        .param .b32 result;
        .param .b32 value;
        call.uni (result), twice, (value);
        ret;
    }
    ```

    ## Fix safety
    The fix adds missing parentheses around arguments, which is unambiguous.
    """
    for call in calls(function):
        wrong = _about_target(function, call)
        miscounted = next((c for c in call.callees if not _has_counts_of(c, call)), None)
        if wrong is not None:
            yield wrong
        elif miscounted is None:
            yield from _about_values(function, call)
        elif _is_sound(function, miscounted):
            yield _about_count(function, call, miscounted)


# -- what is called -----------------------------------------------------------------------------------


def _about_target(function: Function, call: Call) -> Finding | None:
    symbol = function.resolve(call.target)
    if symbol is None or isinstance(symbol, AliasName | AggregateName):
        return None
    if call.table is None:
        return _about_direct(function, call, symbol)
    table = function.resolve(call.table)
    if table is None:
        return None
    if isinstance(symbol, FunctionName):
        return _about_direct(function, call, symbol) or _about_extra(function, call, table)
    name = call.target.text
    if not isinstance(symbol, Register):
        message = (
            f"`{name}` is a {symbol.kind}; {_TABLE} is only allowed with a register that "
            "holds an address"
        )
        return _at(function, call, call.target, message)
    if _is_table(table):
        return None
    message = f"`{call.table.text}` is a {table.kind}; expected {_TABLE}"
    return _at(function, call, call.table, message, _declared(table))


def _about_direct(function: Function, call: Call, symbol: Symbol) -> Finding | None:
    name = call.target.text
    if isinstance(symbol, FunctionName):
        if not symbol.is_kernel:
            return None
        message = f"`{name}` is a kernel; only functions (`.func`) can be called"
        return _at(function, call, call.target, message, _declared(symbol))
    if isinstance(symbol, Register):
        message = f"a call through the address in `{name}` requires {_TABLE} as its last operand"
        return _at(function, call, call.target, message)
    message = f"`{name}` is a {symbol.kind}; only functions can be called"
    return _at(function, call, call.target, message, _declared(symbol))


def _about_extra(function: Function, call: Call, table: Symbol) -> Finding | None:
    """A function's name with one operand too many."""
    extra = call.table
    if extra is None:
        return None
    name = call.target.text
    if call.argument_list is None and isinstance(table, Register | Variable):
        text = f"({extra.text})"
        message = f"call arguments must be in parentheses: `{text}`"
        remedy = FixProposal(f"Write `{text}`", (Replacement(function.place(extra), text),))
        return _at(function, call, extra, message)._replace(fix=remedy)
    message = f"`{name}` is a function; only a call through a register takes `{extra.text}`"
    return _at(function, call, extra, message)


def _is_table(symbol: Symbol) -> bool:
    """Whether a call can find there what it may call."""
    match symbol:
        case Prototype():
            return True
        case TargetTable():
            return symbol.node.kind.text == ".calltargets"
        case Variable():  # an array with the addresses of functions
            return bool(symbol.declarator.dimensions)
        case _:
            return False


# -- what is passed -----------------------------------------------------------------------------------


def _has_counts_of(callee: Callee, call: Call) -> bool:
    return len(call.returns) == len(callee.returns) and len(call.arguments) == len(callee.parameters)


def _about_count(function: Function, call: Call, callee: Callee) -> Finding:
    group, given, wanted, what = call.return_list, call.returns, callee.returns, "result"
    if len(given) == len(wanted):
        group, given, wanted, what = (
            call.argument_list, call.arguments, callee.parameters, "argument"
        )
    message = f"`{callee.name}` takes {_count(len(wanted), what)}, but the call has {len(given)}"
    related = ((callee.place, "it is declared here"),)
    return _at(function, call, group or call.target, message, related)


def _about_values(function: Function, call: Call) -> Iterator[Finding]:
    for index, actual in enumerate(call.returns):
        formals = [callee.returns[index] for callee in call.callees]
        yield from _about_value(function, call, actual, formals, is_return=True)
    for index, actual in enumerate(call.arguments):
        formals = [callee.parameters[index] for callee in call.callees]
        yield from _about_value(function, call, actual, formals, is_return=False)


def _about_value(
    function: Function,
    call: Call,
    actual: nodes.Operand,
    formals: list[Formal],
    *,
    is_return: bool,
) -> Iterator[Finding]:
    """What is wrong with `actual` for the first of `formals` that it does not fit."""
    for callee, formal in zip(call.callees, formals, strict=True):
        wrong = argument_mismatch(function, actual, formal, is_return=is_return)
        if wrong is not None and _is_sound(function, callee):
            message = _message(function, wrong, actual, formal)
            what = "result" if is_return else "parameter"
            related = ((formal.place, f"the {what} is declared here"),)
            yield _at(function, call, actual, message, related)
            return


def _message(
    function: Function, wrong: ArgumentMismatch, actual: nodes.Operand, formal: Formal
) -> str:
    text = f"`{_text(function, actual)}`"
    name = "the parameter" if formal.name == "_" else f"`{formal.name}`"
    given, wanted = wrong.given, wrong.wanted
    if wrong.reason == "no value":
        return f"`_` passes no value; {name} requires one"
    if wrong.reason == "own parameter":
        return f"{text} is a parameter of `{function.name}`; use a `.param` variable of the body"
    if wrong.reason == "space" or wanted is None:
        return f"{text} cannot be passed; use a register, a `.param` variable or a constant"
    if wrong.reason == "type" or given is None:
        if given:
            return f"{text} is {given}, but {name} is {wanted}"
        return f"{text} does not match {name}, which is {wanted}"
    return (
        f"{text} is aligned to {given.alignment} bytes, but {name} to {wanted.alignment}; the "
        "alignments must be equal"
    )


# -- words and places ---------------------------------------------------------------------------------


def _count(count: int, what: str) -> str:
    if count == 0:
        return f"no {what}s"
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _text(function: Function, part: Located) -> str:
    return function.module.document.source.decoded(*function.span(part))


def _at(
    function: Function, call: Call, part: Located, message: str, related: Related = ()
) -> Finding:
    place, exact = operand_or_line(function, call.node, part)
    return Finding(place, message, exact + related)


def _declared(symbol: Symbol) -> Related:
    if isinstance(symbol, Predefined):
        return ()
    return ((symbol.place, f"`{symbol.name}` is declared here"),)


def _is_sound(function: Function, callee: Callee) -> bool:
    """Whether the parameters are written as they must be: without a syntax error, each with one name."""
    symbol = callee.symbol
    declarations = (*(symbol.node.returns or ()), *(symbol.node.parameters or ()))
    if any(len(found.declarators) != 1 or found.type_name is not None for found in declarations):
        return False
    node = symbol.node
    if isinstance(symbol, Prototype):
        parts = (symbol.place, node)
        return not any(function.item.is_broken_between(part.start, part.end) for part in parts)
    end = symbol.node.body.start if symbol.node.body is not None else node.end
    return not function.module.item_of(symbol.node).is_broken_between(node.start, end)
