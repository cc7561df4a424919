"""Hover text for the descriptors that `wgmma` and `tcgen05` take for operands, as far as they are known."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.dataflow.known_bits import KnownBits, known_bits
from ptx_lsp.analyses.dataflow.ssa import ssa_form
from ptx_lsp.executor.descriptors.field import Field, decoded
from ptx_lsp.executor.descriptors.instruction import Form, InstructionDescriptor, fields
from ptx_lsp.executor.descriptors.legality import layout_problems, problems
from ptx_lsp.executor.descriptors.shared import FIELDS, WARPGROUP_FIELDS, SharedDescriptor
from ptx_lsp.executor.descriptors.zero_columns import FIELDS as ZERO_FIELDS
from ptx_lsp.executor.descriptors.zero_columns import ZeroColumns
from ptx_lsp.facts import is_computed
from ptx_lsp.ide.cursor.markdown import code, listed, paragraphs
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.arguments import arguments
from ptx_lsp.model.module import module_of
from ptx_lsp.syntax import nodes

_SOON = 1000
"""Functions up to this number of instructions are analysed for a hover."""
_TITLES = {
    "a-desc": "descriptor of A in shared memory", "b-desc": "descriptor of B in shared memory",
    "s-desc": "descriptor of the matrix in shared memory", "idesc": "instruction descriptor",
    "zero-column-mask-desc": "zero-column mask descriptor",
}


def descriptor_text(function: Function, instruction: nodes.Instruction, operand: nodes.Operand) -> str:
    """The fields of a descriptor; "" for any other operand."""
    match = resolve(instruction.opcode.text).match(arguments(function, instruction))
    name = _name(match, instruction, operand)
    is_small = len(function.body.instructions) <= _SOON
    if match is None or name not in _TITLES or not (is_small or is_computed(ssa_form, function)):
        return ""
    found = known_bits(function, instruction, operand, 32 if name == "idesc" else 64)
    if not found.known:
        return ""
    is_all_known = found.constant is not None
    wrong = list(_problems(function, instruction, match, name, found)) if is_all_known else []
    value = f" {code(f'{found.value:#x}')}" if is_all_known else ""
    rows = decoded(_fields(instruction, match, name), found.value, found.known)
    lines = ["| bits | field | value |", "| --- | --- | --- |"]
    lines += [f"| {row.bits} | {row.name} | {row.text or '(not known)'} |" for row in rows]
    return paragraphs([
        f"**{_TITLES[name]}**{value}", "\n".join(lines), listed(f"**{one}**" for one in wrong)
    ])


def _name(match: Match | None, instruction: nodes.Instruction, operand: nodes.Operand) -> str:
    """The name of an operand in the table."""
    places = match.places if match is not None else ()
    pairs = zip(instruction.operands, places, strict=False)
    return next((place.name for one, (place, _) in pairs if one is operand), "")


def _fields(instruction: nodes.Instruction, match: Match, name: str) -> tuple[Field, ...]:
    if name == "idesc":
        return fields(_form(match))
    if name == "zero-column-mask-desc":
        return ZERO_FIELDS
    return WARPGROUP_FIELDS if instruction.opcode.text.startswith("wgmma") else FIELDS


def _form(match: Match) -> Form:
    return Form.of(match.entry.name, match.candidate.choices.modifiers)


def _problems(
    function: Function, instruction: nodes.Instruction, match: Match, name: str, found: KnownBits
) -> Iterator[str]:
    """Problems of a descriptor that is known as a whole."""
    if instruction.opcode.text.startswith("wgmma"):
        return
    modifiers, target = match.candidate.choices.modifiers, str(module_of(function).target or "")
    if name == "idesc":
        in_tensor = any(place.name == "a-tmem" for place, _ in match.places)
        descriptor = InstructionDescriptor.of(found.value, _form(match))
        yield from problems(descriptor, modifiers, a_in_tensor=in_tensor, target=target)
        return
    given = next(
        (one for one, (place, _) in zip(instruction.operands, match.places, strict=False)
         if place.name == "idesc"), None
    )
    known = None if given is None else known_bits(function, instruction, given, 32).constant
    descriptor = None if known is None else InstructionDescriptor.of(known, _form(match))
    if name == "zero-column-mask-desc":
        if descriptor is not None:
            yield from ZeroColumns.of(found.value).problems(descriptor.m, descriptor.most_shift)
        return
    matrix = SharedDescriptor.of(found.value)
    if descriptor is not None:
        yield from layout_problems(descriptor, name[0].upper(), matrix, target)
    elif problem := matrix.problem():
        yield problem
    if not matrix.problem() and (remark := matrix.remark()):
        yield remark
