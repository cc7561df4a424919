"""Requirements that a file's header does not meet, with their fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptx_lsp.facts import directive_fact, fact
from ptx_lsp.isa.features import FEATURES
from ptx_lsp.isa.matching.verdict import Verdict
from ptx_lsp.isa.schema.entry import Need
from ptx_lsp.isa.target import Requirement, Target, Version, effective, has, satisfies
from ptx_lsp.lint.diagnostic import FixProposal, Replacement
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.directives.directives import Use, directives_of, directives_outside
from ptx_lsp.model.directives.requirements import (
    Demand,
    declaration_demands,
    part_demands,
    special_register_demands,
)
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import FAILED_CHECKS, collect_over_functions, woken_by
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.instructions.features import PREDEFINED
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.place import Place
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final


class UnmetRequirement(NamedTuple):
    """A requirement that the file does not meet.

    `what` is the part of the spelling with the requirement, or describes it. `version` is the lowest
    `.version` that suffices for this target, None if none does. `ways` are all alternatives.
    """

    place: Place
    what: str
    version: Version | None
    ways: tuple[Requirement, ...]


def unmet_requirements(module: Module) -> Iterator[UnmetRequirement]:
    """The unmet requirements of all but directives, which the rule `unsupported-directive` reports."""
    version, target = module.version, module.target
    if version is None or target is None:
        return
    for demand in _demands(module, directives_outside(module), declarations_outside(module)):
        yield from _of_demand(demand, version, target)
    yield from collect_over_functions(_of_function, module, _MAY_REQUIRE)
    yield from collect_over_functions(_of_directives, module)


_MAY_REQUIRE: Final = FAILED_CHECKS | woken_by(InstructionWake(features=PREDEFINED))


@fact
def _of_function(function: Function) -> tuple[UnmetRequirement, ...]:
    version, target = function.module.version, function.module.target
    assert version is not None
    assert target is not None
    registers = special_register_demands(function)
    found = list(_of_instructions(function, target, registers))
    for demand in registers:
        found += _of_demand(demand, version, target)
    return tuple(found)


@directive_fact
def _of_directives(function: Function) -> tuple[UnmetRequirement, ...]:
    module = module_of(function)
    version, target = module.version, module.target
    assert version is not None
    assert target is not None
    found = _demands(module, directives_of(function), declarations_of(function))
    return tuple(unmet for demand in found for unmet in _of_demand(demand, version, target))


def _demands(
    module: Module, uses: Iterable[Use], declared: Iterable[Declared]
) -> Iterator[Demand]:
    version, target = module.version, module.target
    assert version is not None
    assert target is not None
    for use in uses:
        if use.row is None or satisfies(use.row.since, version, target):
            yield from part_demands(module, use)
    for one in declared:
        yield from declaration_demands(module, one)


def _of_demand(demand: Demand, version: Version, target: Target) -> Iterator[UnmetRequirement]:
    least = demand.version(target)
    if least is None or effective(version) < least:
        yield UnmetRequirement(demand.place, _in_words(demand.what), least, demand.ways)


def _in_words(what: str) -> str:
    if what in FEATURES and " " in what:
        return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"
    return f"`{what}`"


def _of_instructions(
    function: Function, target: Target, registers: tuple[Demand, ...]
) -> Iterator[UnmetRequirement]:
    for instruction, verdict in checks(function):
        for need in verdict.unmet:
            if any(
                demand.ways == need.ways and instruction.start <= demand.place.start < instruction.end
                for demand in registers
            ):
                continue  # it is the special register that needs it
            index = _modifier(instruction, need)
            words = instruction.opcode.text.split(".")
            what = f"`.{words[index]}`" if index else _whole(need, f"`{_name(verdict, words)}`")
            place = opcode_part(function, instruction, index)
            yield UnmetRequirement(place, what, _least_version(need, target), need.ways)


def raise_version(module: Module, version: Version) -> FixProposal | None:
    """Raises the file's `.version` to at least `version`."""
    for item in module.document.items:
        match item.node:
            case nodes.Version(number=nodes.Number() as number):
                place = Place.of(item.node, number)
                replacement = Replacement(place, str(version))
                return FixProposal(f"Raise `.version` to {version}", (replacement,))
            case _:
                continue
    return None


def _modifier(instruction: nodes.Instruction, need: Need) -> int:
    """The number of the modifier that a requirement speaks of; 0 for the whole instruction."""
    wanted = {
        value
        for term in need.because.terms
        if not term.negated and not term.given
        for value in term.values
    }
    words = instruction.opcode.text.split(".")
    found = [index for index, word in enumerate(words) if index and f".{word}" in wanted]
    return found[-1] if found else 0


def _whole(need: Need, name: str) -> str:
    """The subject of a requirement without a modifier of the instruction: it may concern the absence of one.
    """
    is_generic = any(term.slot in ("ss", "space") and "" in term.values for term in need.because.terms)
    return "generic addressing" if is_generic else name


def _name(verdict: Verdict, words: list[str]) -> str:
    return verdict.match.entry.name if verdict.match is not None else words[0]


def _least_version(need: Need, target: Target) -> Version | None:
    possible = [
        way.version
        for way in need.ways
        if not way.targets or any(has(target, feature) for feature in way.targets)
    ]
    return min(possible, default=None)
