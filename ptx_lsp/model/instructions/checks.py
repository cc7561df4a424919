"""Checks each instruction of a function against the instruction table.

Only failed checks are stored; the rules of `lint` read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from ptx_lsp.facts import InstructionResults, Previous, fact, incremental_fact
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.isa.matching.verdict import Verdict, judge
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_counts, shape_index, shapes
from ptx_lsp.model.module_scope import ModuleScope
from ptx_lsp.model.symbols import Register
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final


class Check(NamedTuple):
    """An instruction that does not match the table, and the reason."""

    instruction: nodes.Instruction
    verdict: Verdict


def checks(function: Function) -> tuple[Check, ...]:
    """The instructions of `function` that do not match the table, in order."""
    return _checks(function) if function.body.instructions else ()


@fact
def _checks(function: Function) -> tuple[Check, ...]:
    found = _objections(function).results
    if not found:
        return ()
    return tuple([one for one in chain.from_iterable(found) if not _is_broken(function, one.instruction)])


@incremental_fact
def _objections(
    function: Function, earlier: Previous[InstructionResults[Check]] | None
) -> InstructionResults[Check]:
    if earlier is None:
        module = function.module
        bad = [shape for shape in shape_counts(function).counts if _verdict(module, shape) is not None]
        if not bad:
            return _NO_RESULTS
        index = shape_index(function)
        return _results(function, sorted(chain.from_iterable([index[shape] for shape in bad])))
    first, _, end = earlier.change
    return earlier.value.spliced(earlier.change, _results(function, range(first, end)))


_NO_RESULTS: Final = InstructionResults[Check]((), ())


def _results(function: Function, numbers: Iterable[int]) -> InstructionResults[Check]:
    """The failed checks among instructions."""
    module, of_all, instructions = function.module, shapes(function), function.body.instructions
    indices: list[int] = []
    found: list[tuple[Check, ...]] = []
    for number in numbers:
        verdict = _verdict(module, of_all[number])
        if verdict is not None:
            indices.append(number)
            found.append((Check(instructions[number], verdict),))
    return InstructionResults(tuple(indices), tuple(found))


def _verdict(module: ModuleScope, shape: Shape) -> Verdict | None:
    """None if there is nothing to object to."""
    try:
        return module.verdicts[shape]
    except KeyError:
        verdict = module.verdicts[shape] = judge(
            shape.spelling,
            shape.arguments,
            module.version,
            module.target,
            module.address_size,
            module.has_samplers,
        )
        return verdict


def _is_broken(function: Function, instruction: nodes.Instruction) -> bool:
    """Whether a syntax error, or an index after a register, is already reported."""
    if not instruction.opcode.text:
        return True
    if function.item.is_broken_between(instruction.start, instruction.end):
        return True
    return any(
        isinstance(operand, nodes.Element)
        and isinstance(function.resolve(operand.array), Register)
        for operand in instruction.operands
    )
