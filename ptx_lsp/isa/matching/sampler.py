"""Samplers of texture instructions, in the texture mode of the file.

Learnt from ptxas 13.5:

1. With `.target texmode_independent` what stands in the place of a sampler is one: a `.samplerref`. `txq`
   asks it, and not the texture, for `.filter_mode` and the like.
2. In unified mode, which has no samplers, a texture, a surface or any variable of 64 bits may stand there.
"""

from __future__ import annotations

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.operand import Argument, Operand
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_SAMPLER: Final = ".samplerref"
_UNIFIED: Final = (".texref", _SAMPLER, ".surfref", ".u64", ".s64", ".b64")


def sampler_problems(
    match: Match, arguments: tuple[Argument, ...], has_samplers: bool
) -> tuple[Problem, ...]:
    """The operands with a variable that is not a sampler. `has_samplers`: in independent texture mode."""
    taken = (_SAMPLER,) if has_samplers else _UNIFIED
    found: list[Problem] = []
    for number, ((place, operand), argument) in enumerate(zip(match.places, arguments, strict=True)):
        if argument.kind != "address":
            continue
        asked = [(operand, argument.parts[0])] if has_samplers and _takes_sampler(operand) else []
        if place.shape == "address" and len(place.parts) == len(argument.parts):
            inner = [match.candidate.operand(part) for part in place.parts[1:]]
            asked += [
                pair for pair in zip(inner, argument.parts[1:], strict=True) if pair[0].is_sampler
            ]
        wanted = f"expected a variable of type `{_SAMPLER}`"
        found += [
            Problem("operand", number, f"{wanted}, not `{given.type}`")
            for _, given in asked
            if given.kind == "variable" and given.type not in taken
        ]
    return tuple(found)


def _takes_sampler(operand: Operand) -> bool:
    return isinstance(operand.type, str) and _SAMPLER in operand.type.split("|")
