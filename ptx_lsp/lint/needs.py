"""What an instruction needs and a file does not give, told so that it can be mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptx_lsp.isa.entry import Need
from ptx_lsp.isa.target import Requirement, Target, Version, has
from ptx_lsp.isa.verdict import Verdict
from ptx_lsp.lint.diagnostic import Remedy, Replacement
from ptx_lsp.lint.opcode import opcode_part
from ptx_lsp.model.checks import checks
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes


class Unmet(NamedTuple):
    """A requirement of an instruction that the file does not meet.

    `what` is the part of the spelling that has it; `version` the least `.version` that would do for this
    target, None where no version does; `ways` all that would do.
    """

    place: Place
    what: str
    version: Version | None
    ways: tuple[Requirement, ...]


def unmet(function: Function) -> Iterator[Unmet]:
    """The unmet requirements of a function's instructions, in order."""
    target = function.module.target
    if target is None:
        return
    for instruction, verdict in checks(function):
        for need in verdict.unmet:
            index = _modifier(instruction, need)
            words = instruction.opcode.text.split(".")
            what = f".{words[index]}" if index else _name(verdict, words)
            place = opcode_part(function, instruction, index)
            yield Unmet(place, what, _least_version(need, target), need.ways)


def raise_version(module: Module, version: Version) -> Remedy | None:
    """Makes the file's `.version` at least `version`."""
    for item in module.document.items:
        match item.node:
            case nodes.Version(number=nodes.Number() as number):
                place = Place.of(item.node, number)
                replacement = Replacement(place, str(version))
                return Remedy(f"Raise `.version` to {version}", (replacement,))
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


def _name(verdict: Verdict, words: list[str]) -> str:
    return verdict.match.entry.name if verdict.match is not None else words[0]


def _least_version(need: Need, target: Target) -> Version | None:
    possible = [
        way.version
        for way in need.ways
        if not way.targets or any(has(target, feature) for feature in way.targets)
    ]
    return min(possible, default=None)
