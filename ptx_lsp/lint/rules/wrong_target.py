"""The rule `wrong-target`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.facts import directive_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.lint.anchoring import Related, operand_or_line, part_or_line
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import function_rule
from ptx_lsp.model.calls.targets import is_indirect_branch
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import having_directives, woken_by
from ptx_lsp.model.instructions.features import GUARDED, LABEL, NEGATED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.place import Place
from ptx_lsp.model.symbols import FunctionName, Label, Predefined, Register, Symbol, TargetTable
from ptx_lsp.syntax import nodes

_INDIRECT = "use `brx.idx` with an index into a `.branchtargets` for an indirect branch"
_BRANCHES = frozenset({"bra", "bra.uni"})
_INDEXED = frozenset({"brx.idx", "brx.idx.uni"})


def _is_unusual(shape: Shape) -> bool:
    """Whether it is not just a `bra` to a label."""
    return (
        shape.opcode != "bra"
        or len(shape.arguments) != 1
        or shape.features & ~(GUARDED | NEGATED) != LABEL
    )


def _has_table(function: Function) -> bool:
    return any(isinstance(one.node, nodes.TargetList) for one in function.body.directives)


_UNUSUAL = InstructionWake(opcodes=("bra", "brx"), where=_is_unusual)


@function_rule("wrong-target", code="E116", wake=woken_by(_UNUSUAL) | having_directives(_has_table))
def wrong_target(function: Function) -> Iterator[Finding]:
    """A branch to something other than a label, or an invalid list of targets.

    ## What it does
    Reports a `bra` whose operand is a register, variable, function or list; a `brx.idx` whose last
    operand is not the label of a `.branchtargets`; names in a `.branchtargets` that are not labels, and
    names in a `.calltargets` that are not functions.

    ## Why it matters
    ptxas rejects it with `Label expected` or `Illegal branch target`.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %index;
        mov.u32 %index, 0;
        brx.idx %index, first;
    first:
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %index;
        mov.u32 %index, 0;
    targets: .branchtargets first;
        brx.idx %index, targets;
    first:
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the intended target is unknown.
    """
    yield from _of_instructions(function)
    yield from _of_tables(function)


@collect_over_instructions(_UNUSUAL)
def _of_instructions(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    opcode = instruction.opcode.text
    if opcode in _BRANCHES:
        yield from _of_branch(function, instruction)
    elif opcode in _INDEXED:
        yield from _of_indexed(function, instruction)


def _of_branch(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    match instruction.operands:
        case (nodes.Name() as name,):
            symbol = function.resolve(name)
            if symbol is None or isinstance(symbol, Label):
                return
            message = f"`{name.text}` is a {symbol.kind}; expected a label"
            if isinstance(symbol, Register):
                message += f"; {_INDIRECT}"
        case (nodes.Name() as name, _) if is_indirect_branch(function, instruction):
            message = f"`bra` takes a single label; {_INDIRECT}"
            symbol = function.resolve(name)
            if symbol is None:
                return
        case _:
            return
    place, related = operand_or_line(function, instruction, name)
    yield Finding(place, message, related + _declared(symbol))


def _of_indexed(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    match instruction.operands:
        case (_, nodes.Name() as name):
            symbol = function.resolve(name)
        case _:
            return
    if symbol is None or _is_branch_table(symbol):
        return
    message = f"`{name.text}` is a {symbol.kind}; expected the label of a `.branchtargets`"
    if isinstance(symbol, TargetTable):
        message = f"`{name.text}` is a `{symbol.node.kind.text}`; expected a `.branchtargets`"
    place, related = operand_or_line(function, instruction, name)
    yield Finding(place, message, related + _declared(symbol))


@directive_fact
def _of_tables(function: Function) -> tuple[Finding, ...]:
    return tuple(
        finding
        for table, _ in function.body.directives
        if isinstance(table, nodes.TargetList)
        for finding in _of_table(function, table)
    )


def _of_table(function: Function, table: nodes.TargetList) -> Iterator[Finding]:
    is_of_calls = table.kind.text == ".calltargets"
    for name in table.names:
        symbol = function.resolve(name)
        if symbol is None:
            continue
        if is_of_calls:
            if not isinstance(symbol, FunctionName):
                message = f"`{name.text}` is a {symbol.kind}; a `.calltargets` must list functions"
                yield Finding(function.place(name), message, _declared(symbol))
        elif not isinstance(symbol, Label) and not _is_of(symbol, table):
            message = f"`{name.text}` is a {symbol.kind}; a `.branchtargets` must list labels"
            place, related = part_or_line(function, table.kind, name)
            yield Finding(place, message, related + _declared(symbol))


def _is_branch_table(symbol: Symbol) -> bool:
    return isinstance(symbol, TargetTable) and symbol.node.kind.text == ".branchtargets"


def _is_of(symbol: Symbol, table: nodes.TargetList) -> bool:
    """Whether `symbol` is the label of `table`, which a table may list."""
    return isinstance(symbol, TargetTable) and symbol.node is table


def _declared(symbol: Symbol) -> Related:
    if isinstance(symbol, Predefined):
        return ()
    place: Place = symbol.place
    return ((place, f"`{symbol.name}` is declared here"),)
