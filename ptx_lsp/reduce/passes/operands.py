"""Operands: constants and simpler registers in place of registers."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.reduce.program import Program, names, walk
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes

_MOVES = {
    ".pred": "mov.pred {0}, 0;",
    ".f32": "mov.f32 {0}, 0f00000000;",
    ".f64": "mov.f64 {0}, 0d0000000000000000;",
}
_FLOATS = {".f32": "0f00000000", ".f64": "0d0000000000000000"}


class _Use(NamedTuple):
    """A register in a source operand."""

    function: Function
    instruction: nodes.Instruction
    name: nodes.Name
    register: Register


@reduction_pass("results", "simplification", 20)
def results(program: Program) -> Iterator[Step]:
    """Replaces each instruction that writes one register by a `mov` of zero."""
    for function, instruction in reversed(list(program.instructions())):
        register = _written(function, instruction)
        if register is None or instruction.opcode.text.startswith("mov"):
            continue
        size = register.type.lstrip(".bfsu")
        move = _MOVES.get(register.type, f"mov.b{size} {{0}}, 0;")
        guard = program.text(function.span(instruction.guard)) + b" " if instruction.guard else b""
        yield (
            program.replace(
                function.span(instruction), guard + move.format(register.name).encode()
            ),
        )


@reduction_pass("operands to constants", "simplification", 30)
def constants(program: Program) -> Iterator[Step]:
    """Replaces each register in a source operand by zero."""
    for use in _uses(program):
        kind = use.instruction.opcode.text.rpartition(".")[2]
        zero = (
            _FLOATS.get(f".{kind}", "0")
            if use.register.type in (".f32", ".f64", ".b32", ".b64")
            else "0"
        )
        yield (program.replace(use.function.span(use.name), zero),)


@reduction_pass("operands to operands of their definition", "simplification", 31)
def skipped(program: Program) -> Iterator[Step]:
    """Replaces each register in a source operand by one that the instruction defining it reads."""
    definitions: dict[tuple[int, str], list[Register]] = {}
    for function, instruction in program.instructions():
        written = _written(function, instruction)
        if written is not None:
            read = [
                one
                for one in _registers(function, instruction.operands[1:])
                if one.type == written.type
            ]
            definitions.setdefault((id(function), written.name), []).extend(read)
    for use in _uses(program):
        for register in definitions.get((id(use.function), use.register.name), ()):
            if register.name != use.register.name:
                yield (program.replace(use.function.span(use.name), register.name),)


@reduction_pass("operands to the first register", "simplification", 32)
def first_registers(program: Program) -> Iterator[Step]:
    """Replaces each register by the simplest register of its type."""
    simplest: dict[tuple[int, str], str] = {}
    uses = list(_uses(program, sources_only=False))
    for use in uses:
        key = (id(use.function), use.register.type)
        name = use.register.name
        best = simplest.setdefault(key, name)
        if (len(name), name) < (len(best), best):
            simplest[key] = name
    for use in uses:
        name = simplest[id(use.function), use.register.type]
        if name != use.register.name:
            yield (program.replace(use.function.span(use.name), name),)


@reduction_pass("discarded results", "simplification", 35)
def discarded(program: Program) -> Iterator[Step]:
    """Replaces each destination by `_`, and deletes second destinations."""
    for function, instruction in program.instructions():
        for operand in instruction.operands[:1]:
            if isinstance(operand, nodes.Pair):
                yield (
                    program.replace(
                        function.span(operand), program.text(function.span(operand.left))
                    ),
                )
            for name in names(operand):
                if isinstance(function.resolve(name), Register):
                    yield (program.replace(function.span(name), "_"),)


@reduction_pass("expressions", "simplification", 40)
def expressions(program: Program) -> Iterator[Step]:
    """Replaces each expression by its first part: `a+4` by `a`, `-a` by `a`, `%r1.x` by `%r1`."""
    for function, instruction in program.instructions():
        for operand in instruction.operands:
            for node in walk(operand):
                part = _first_part(node)
                if part is not None:
                    yield (program.replace(function.span(node), program.text(function.span(part))),)


@reduction_pass("trailing operands", "simplification", 41, is_list=True)
def trailing(program: Program) -> Iterator[Step]:
    """Deletes the last operand of each instruction that has several, and the last part of each address."""
    for function, instruction in program.instructions():
        if len(instruction.operands) > 1:
            before, last = instruction.operands[-2:]
            span = function.span(last)
            yield (program.replace(span._replace(start=function.span(before).end), ""),)
        for operand in instruction.operands:
            if isinstance(operand, nodes.Address) and len(operand.items) > 1:
                span = function.span(operand.items[-1])
                yield (
                    program.replace(span._replace(start=function.span(operand.items[-2]).end), ""),
                )


def _first_part(node: nodes.Node) -> nodes.Expression | None:
    match node:
        case nodes.Binary(left=part) | nodes.Unary(value=part) | nodes.Member(object=part):
            return part
        case nodes.Cast(value=part) | nodes.Conditional(then=part):
            return part
        case _:
            return None


def _written(function: Function, instruction: nodes.Instruction) -> Register | None:
    """The register that is the first operand, which an instruction with several usually writes."""
    if len(instruction.operands) < 2 or not isinstance(instruction.operands[0], nodes.Name):
        return None
    symbol = function.resolve(instruction.operands[0])
    return symbol if isinstance(symbol, Register) else None


def _uses(program: Program, *, sources_only: bool = True) -> Iterator[_Use]:
    for function, instruction in program.instructions():
        for index, operand in enumerate(instruction.operands):
            if (
                sources_only
                and index == 0
                and isinstance(operand, nodes.Name | nodes.Vector | nodes.Pair)
            ):
                continue
            for name in names(operand):
                symbol = function.resolve(name)
                if isinstance(symbol, Register):
                    yield _Use(function, instruction, name, symbol)


def _registers(function: Function, operands: tuple[nodes.Operand, ...]) -> Iterator[Register]:
    for operand in operands:
        for name in names(operand):
            symbol = function.resolve(name)
            if isinstance(symbol, Register):
                yield symbol
