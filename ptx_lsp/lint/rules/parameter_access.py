"""The rule `parameter-access`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.anchoring import operand_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import instruction_rule
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.features import CALL_PARAMETER, GUARDED, RECEIVED, RETURNED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.symbols import Register, Variable
from ptx_lsp.syntax import nodes

_SPACES = frozenset({"param", "param::func", "param::entry"})


def _may_be_wrong(shape: Shape) -> bool:
    features = shape.features
    if features & CALL_PARAMETER and (features & GUARDED or shape.opcode in ("mov", "cvta")):
        return True
    if shape.opcode == "ld":
        return features & RETURNED != 0 or "::" in shape.spelling
    return shape.opcode == "st" and features & RECEIVED != 0


_WAKE = InstructionWake(
    opcodes=("ld", "st", "mov", "cvta"),
    features=RECEIVED | RETURNED | CALL_PARAMETER,
    where=_may_be_wrong,
)


@instruction_rule("parameter-access", code="E118", wake=_WAKE)
def parameter_access(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    """A parameter used against its direction, or as another kind of parameter.

    ## What it does
    Reports `st.param` to an input parameter, `ld.param` of the function's own return parameter,
    `.param::entry` or `.param::func` for a parameter of the other kind, `mov` of the address of a
    `.param` variable of the body, and guarded `ld.param` or `st.param` of such a variable.

    ## Why it matters
    Input parameters can only be read and return parameters only be written. Variables that pass the
    arguments of a call have no address, and are accessed without a guard. ptxas rejects everything else.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func (.param .b32 result) twice(.param .b32 value)
    {
        .reg .b32 %r<2>;
        ld.param.b32 %r0, [value];
        add.s32 %r1, %r0, %r0;
        st.param.b32 [value], %r1;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .func (.param .b32 result) twice(.param .b32 value)
    {
        .reg .b32 %r<2>;
        ld.param.b32 %r0, [value];
        add.s32 %r1, %r0, %r0;
        st.param.b32 [result], %r1;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended parameter is unknown.
    """
    opcode = instruction.opcode.text
    if not opcode.startswith(("ld.", "st.", "mov.", "cvta.")):
        return
    received, returned = function.body.parameters, function.body.returns
    if opcode.startswith("ld."):
        found = _accessed(function, instruction, 1)
        message = found and _about_load(function, opcode, found[1], _is_among(returned, found[1]))
    elif opcode.startswith("st."):
        found = _accessed(function, instruction, 0)
        message = found and _about_store(function, opcode, found[1], _is_among(received, found[1]))
    elif not opcode.startswith("cvta.to"):
        found = _moved(function, instruction)
        known = found is not None and _is_among((*received, *returned), found[1])
        message = None if known else found and _about_address(found[1])
    else:
        return
    is_direct = opcode.startswith(("ld.", "st."))
    if found and not message and is_direct and instruction.guard and not found[1].is_parameter:
        message = (
            f"`{found[1].name}` is a call parameter, so `{opcode[:2]}.param` on it cannot "
            "be guarded"
        )
    if found and message:
        place, related = operand_or_line(function, instruction, found[0])
        yield Finding(
            place, message, (*related, (found[1].place, f"`{found[1].name}` is declared here"))
        )


def _is_among(symbols: Iterable[Register | Variable], one: Variable) -> bool:
    """Whether one of `symbols` has that name."""
    return any(symbol.name == one.name for symbol in symbols)


def _accessed(
    function: Function, instruction: nodes.Instruction, index: int
) -> tuple[nodes.Name, Variable] | None:
    """The `.param` variable in the address that is operand number `index` of a `ld.param` or `st.param`."""
    parts = instruction.opcode.text.split(".")
    if _SPACES.isdisjoint(parts) or len(instruction.operands) <= index:
        return None
    address = instruction.operands[index]
    if not isinstance(address, nodes.Address) or not address.items:
        return None
    first = address.items[0]
    return _parameter(function, first.left if isinstance(first, nodes.Binary) else first)


def _moved(
    function: Function, instruction: nodes.Instruction
) -> tuple[nodes.Name, Variable] | None:
    """The `.param` variable whose address a `mov` takes."""
    return _parameter(function, instruction.operands[1]) if len(instruction.operands) == 2 else None


def _parameter(
    function: Function, value: nodes.Expression
) -> tuple[nodes.Name, Variable] | None:
    symbol = function.resolve(value) if isinstance(value, nodes.Name) else None
    if isinstance(value, nodes.Name) and isinstance(symbol, Variable) and symbol.space == ".param":
        return value, symbol
    return None


def _about_load(function: Function, opcode: str, symbol: Variable, is_returned: bool) -> str | None:
    if is_returned:  # ptxas goes by the name, even where the body has a variable of the same name
        return f"`{symbol.name}` is a return parameter; it can only be written"
    is_kernels = symbol.is_parameter and function.is_kernel
    if "::func" in opcode and is_kernels:
        return f"`{symbol.name}` is a kernel parameter; use `.param` or `.param::entry`"
    if "::entry" in opcode and not symbol.is_parameter:
        return f"`{symbol.name}` is a call parameter; use `.param` or `.param::func`"
    return None


def _about_store(
    function: Function, opcode: str, symbol: Variable, is_received: bool
) -> str | None:
    if "::entry" in opcode or not is_received:  # `st` has no `.param::entry`
        return None
    owner = f"`{function.name}`" if function.name else "the function"
    return f"`{symbol.name}` is an input parameter of {owner}; it can only be read"


def _about_address(symbol: Variable) -> str | None:
    if symbol.is_parameter:
        return None
    return f"`{symbol.name}` is a call parameter, which has no address; load from it"
