"""What rules say about a place that only a part of a warp comes to."""

from __future__ import annotations

from analyses.dominance import dominance
from analyses.partings import Parting, partings
from analyses.steps import Step
from analyses.uniformity import Reason, uniformity
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Place

_MOST = 3
"""Reasons that are named."""


def related(function: Function, parting: Parting) -> tuple[tuple[Place, str], ...]:
    """What parts the threads, and why it may."""
    found = [(function.place(parting.step.node.opcode), "threads of one warp may part here")]
    found.extend(reasons(function, parting.step.number))
    return tuple(found)


def reasons(function: Function, number: int) -> list[tuple[Place, str]]:
    """Why a step is not done by all threads of a warp alike: the last links of the chain."""
    known = uniformity(function)
    steps = known.values.steps.steps
    chain: list[Reason] = [one for one in known.reasons(number) if one.number >= 0]
    if len(chain) > _MOST:
        chain = [*chain[: _MOST - 1], chain[-1]]
    return [(function.place(steps[one.number].node), one.text) for one in chain]


def decided(function: Function, found: list[Step]) -> list[Step]:
    """Those steps that are guarded or that some branch decides about: the others are done by whole warps.

    This is much cheaper than uniformity.
    """
    if not found:
        return []
    known = dominance(function)
    blocks = known.cfg.block_of
    return [step for step in found if step.is_guarded or known.deciding[blocks[step.number]]]


def nearest(function: Function, number: int) -> Parting | None:
    """What parts the threads last on the way to a step; None where a warp comes to it as a whole."""
    return next(iter(partings(function).of(number)), None)
