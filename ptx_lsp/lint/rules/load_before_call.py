"""The rule `load-before-call`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import fact
from ptx_lsp.isa.target import Version
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.calls.calls import calls
from ptx_lsp.model.calls.compiled import compiled
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import collect_over_functions, woken_by
from ptx_lsp.model.instructions.features import CALL_PARAMETER
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

_LOADS = InstructionWake(opcodes=("ld",), features=CALL_PARAMETER)
_LOADING = woken_by(_LOADS)


@module_rule("load-before-call", code="E119", wake=_LOADING)
def load_before_call(module: Module) -> Iterator[Finding]:
    """A `ld.param` of a `.param` variable of the body that no earlier call returns.

    ## What it does
    Reports loads from variables that pass arguments if no preceding `call` in the text returns a value
    in the variable. In functions that no kernel calls, it is a warning.

    ## Why it matters
    Such a variable only holds a value as the result of a call. ptxas rejects the load when it generates
    code, without a line number.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func (.param .b32 result) next(.param .b32 value)
    {
        .reg .b32 %r<2>;
        ld.param.b32 %r0, [value];
        add.s32 %r1, %r0, 1;
        st.param.b32 [result], %r1;
        ret;
    }
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .param .b32 given;
        .param .b32 returned;
        ld.param.u64 %d, [out];
        st.param.b32 [given], 1;
        ld.param.b32 %r, [returned];
        call (returned), next, (given);
        st.global.b32 [%d], %r;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func (.param .b32 result) next(.param .b32 value)
    {
        .reg .b32 %r<2>;
        ld.param.b32 %r0, [value];
        add.s32 %r1, %r0, 1;
        st.param.b32 [result], %r1;
        ret;
    }
    .visible .entry kernel(.param .u64 out)
    {
        .reg .b32 %r;
        .reg .b64 %d;
        .param .b32 given;
        .param .b32 returned;
        ld.param.u64 %d, [out];
        st.param.b32 [given], 1;
        call (returned), next, (given);
        ld.param.b32 %r, [returned];
        st.global.b32 [%d], %r;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended call is unknown.
    """
    found = list(collect_over_functions(_early_loads, module, _LOADING))
    known = compiled(module) if found else {}
    for load in found:
        message = f"no earlier call returns a value in `{load.variable.name}`"
        related = ((load.variable.place, f"`{load.variable.name}` is declared here"),)
        severity = None if load.function in known else "warning"
        yield Finding(load.place, message, related, severity=severity)


class _Load(NamedTuple):
    function: str
    place: Place
    variable: Variable


@fact
def _early_loads(function: Function) -> tuple[_Load, ...]:
    loads, version = _loads(function), function.module.version
    if not loads or function.item.problems:
        return ()
    if version is not None and version < Version(2, 0):
        return ()  # in kernels of PTX 1.0 to 1.3 these are the parameters
    offset = function.item.offset
    first: dict[tuple[int, str], int] = {}
    for call in calls(function):
        for value in call.returns:
            symbol = function.resolve(value) if isinstance(value, nodes.Name) else None
            if isinstance(symbol, Variable):
                first.setdefault(_identity(symbol), offset(call.node.start))
    return tuple(
        _Load(function.name, function.place(name), variable)
        for name, variable in loads
        if first.get(_identity(variable), offset(name.start)) >= offset(name.start)
    )


def _identity(variable: Variable) -> tuple[int, str]:
    return id(variable.declarator), variable.name


@collect_over_instructions(_LOADS)
def _loads(
    function: Function, instruction: nodes.Instruction
) -> Iterator[tuple[nodes.Name, Variable]]:
    if not instruction.opcode.text.startswith("ld.param") or len(instruction.operands) < 2:
        return
    address = instruction.operands[1]
    first = address.items[0] if isinstance(address, nodes.Address) and address.items else None
    name = first.left if isinstance(first, nodes.Binary) else first
    if isinstance(name, nodes.Name):
        symbol = function.resolve(name)
        if isinstance(symbol, Variable) and symbol.space == ".param" and not symbol.is_parameter:
            yield name, symbol
