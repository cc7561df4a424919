"""Modifiers, types and vectors."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.model.function import Function
from ptx_lsp.reduce.program import Program, walk
from ptx_lsp.reduce.reduction_pass import reduction_pass
from ptx_lsp.reduce.step import Step
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit

_NARROWER = {
    ".f64": (".f32", ".b32"),
    ".u64": (".u32", ".b32"),
    ".s64": (".s32", ".b32"),
    ".b64": (".b32",),
    ".b128": (".b64",),
    ".f32": (".b32",),
    ".u32": (".b32", ".u16"),
    ".s32": (".b32", ".s16"),
    ".b32": (".b16",),
    ".u16": (".b16", ".u8"),
    ".s16": (".b16", ".s8"),
    ".b16": (".b8",),
    ".u8": (".b8",),
    ".s8": (".b8",),
    ".f16": (".b16",),
    ".f16x2": (".b32",),
    ".bf16": (".b16",),
    ".bf16x2": (".b32",),
}
_HALVES = (
    {".f64": ".f32", ".u64": ".u32", ".s64": ".s32", ".b64": ".b32"},
    {".f32": ".f16", ".u32": ".u16", ".s32": ".s16", ".b32": ".b16"},
)
"""Types and those of half their width, for all types of one width together."""
_FEWER = {".v8": (".v4", 4), ".v4": (".v2", 2), ".v2": ("", 1)}
_SIMPLER = {
    ".seq_cst": ".relaxed",
    ".acq_rel": ".relaxed",
    ".acquire": ".relaxed",
    ".release": ".relaxed",
    ".sys": ".gpu",
    ".cluster": ".cta",
    ".gpu": ".cta",
    ".shared::cluster": ".shared",
    ".shared::cta": ".shared",
    ".x4": ".x1",
    ".x2": ".x1",
    ".x128": ".x1",
    ".x64": ".x1",
    ".x32": ".x1",
    ".x16": ".x1",
    ".x8": ".x1",
}


@reduction_pass("modifiers", "simplification", 50)
def modifiers(program: Program) -> Iterator[Step]:
    """Deletes each modifier."""
    yield from _runs(program, 1)


@reduction_pass("pairs of modifiers", "simplification", 51)
def pairs(program: Program) -> Iterator[Step]:
    """Deletes two and three modifiers that follow each other, as `.acquire.gpu`."""
    yield from _runs(program, 2)
    yield from _runs(program, 3)


@reduction_pass("simpler modifiers", "simplification", 52)
def simpler(program: Program) -> Iterator[Step]:
    """Replaces modifiers by those that ask for less, such as `.acquire` by `.relaxed`."""
    for function, instruction in program.instructions():
        parts = _parts(instruction)
        for index, part in enumerate(parts):
            if part in _SIMPLER:
                changed = [*parts[:index], _SIMPLER[part], *parts[index + 1 :]]
                yield _opcode(program, function, instruction, changed)


@reduction_pass("vectors", "simplification", 55)
def vectors(program: Program) -> Iterator[Step]:
    """Halves vectors of loads, stores and moves."""
    for function, instruction in program.instructions():
        parts = _parts(instruction)
        for index, part in enumerate(parts):
            if part in _FEWER:
                modifier, count = _FEWER[part]
                left = [*parts[:index], *([modifier] if modifier else []), *parts[index + 1 :]]
                step = list(_opcode(program, function, instruction, left))
                for operand in instruction.operands:
                    step += _shortened(program, function, operand, count)
                yield tuple(step)


@reduction_pass("types", "simplification", 60)
def types(program: Program) -> Iterator[Step]:
    """Replaces a type by a narrower or simpler one, in a whole function and in single instructions."""
    for function in program.bodies:
        found: dict[str, list[Edit]] = {}
        for name, edit in _types_in(program, function):
            found.setdefault(name, []).append(edit)
        for halves in _HALVES:
            yield tuple(
                edit._replace(replacement=narrower.encode())
                for name, narrower in halves.items()
                for edit in found.get(name, ())
            )
        for name, edits in found.items():
            for narrower in _NARROWER.get(name, ()):
                yield tuple(edit._replace(replacement=narrower.encode()) for edit in edits)
    for function in program.bodies:
        for name, edit in _types_in(program, function):
            for narrower in _NARROWER.get(name, ()):
                yield (edit._replace(replacement=narrower.encode()),)


def _types_in(program: Program, function: Function) -> Iterator[tuple[str, Edit]]:
    """The types in a function, each with an edit of its place."""
    for instruction in function.body.instructions:
        span = function.span(instruction.opcode)
        if program.text(span).decode("latin-1") != instruction.opcode.text:
            continue
        offset = span.start
        for part in _parts(instruction):
            if part in _NARROWER:
                yield part, Edit(offset, offset + len(part), b"")
            offset += len(part)
    declarations = [one for one in function.body.statements if isinstance(one, nodes.Declaration)]
    for declaration in (*(function.node.parameters or ()), *declarations):
        for one in declaration.modifiers:
            if one.text in _NARROWER:
                span = function.span(one)
                yield one.text, Edit(span.start, span.end, b"")


def _shortened(
    program: Program, function: Function, operand: nodes.Operand, count: int
) -> Iterator[Edit]:
    """Leaves `count` elements of each vector in an operand."""
    for node in walk(operand):
        if isinstance(node, nodes.Vector) and len(node.items) == 2 * count:
            kept = [program.text(function.span(one)) for one in node.items[:count]]
            text = kept[0] if count == 1 else b"{" + b", ".join(kept) + b"}"
            yield program.replace(function.span(node), text)


def _runs(program: Program, length: int) -> Iterator[Step]:
    """Deletes `length` modifiers that follow each other."""
    for function, instruction in program.instructions():
        parts = _parts(instruction)
        for index in range(1, len(parts) - length + 1):
            yield _opcode(
                program, function, instruction, [*parts[:index], *parts[index + length :]]
            )


def _parts(instruction: nodes.Instruction) -> list[str]:
    """The opcode and its modifiers, with their dots. `.shared::cta` is one."""
    first, *rest = instruction.opcode.text.split(".")
    return [first, *(f".{one}" for one in rest)]


def _opcode(
    program: Program, function: Function, instruction: nodes.Instruction, parts: list[str]
) -> Step:
    return (program.replace(function.span(instruction.opcode), "".join(parts)),)
