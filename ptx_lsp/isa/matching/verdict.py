"""The instruction table's verdict on an instruction at a `.version` and `.target`."""

from __future__ import annotations

from ptx_lsp.isa.matching.fit import Problem
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.matching.pointer import narrow_pointers
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.matching.sampler import sampler_problems
from ptx_lsp.isa.matching.unbracketed import BRACKETS_SINCE, bracketed, coordinate_problems
from ptx_lsp.isa.schema.entry import End, Need
from ptx_lsp.isa.schema.operand import Argument
from ptx_lsp.isa.target import Target, Version
from ptx_lsp.named_tuple import NamedTuple


class Verdict(NamedTuple):
    """The table's objections to one shape of instruction.

    `problems` are those of its modifiers or operands; `unmet` what it needs and the version and target do not
    give; `ended` what they have taken away. `match` is None where no form fits.
    """

    match: Match | None
    problems: tuple[Problem, ...]
    unmet: tuple[Need, ...]
    ended: tuple[End, ...]


def judge(
    spelling: str,
    arguments: tuple[Argument, ...],
    version: Version | None,
    target: Target | None,
    address_size: int = 64,
    has_samplers: bool = False,
) -> Verdict | None:
    """The verdict on a spelling with its operands, where addresses have `address_size` bits; of needs only
    where both are known. `has_samplers`: with `.target texmode_independent`.
    """
    is_old = version is not None and version < BRACKETS_SINCE
    if is_old:
        arguments = bracketed(spelling, arguments)
    resolution = resolve(spelling)
    match = resolution.match(arguments)
    if match is None:
        return Verdict(None, resolution.problems, (), ())
    problems = (*match.candidate.problems, *match.problems)
    if is_old and not problems:
        problems = coordinate_problems(spelling, arguments)
    if not match.problems:
        problems += sampler_problems(match, arguments, has_samplers)
    if address_size == 64 and not match.problems:
        problems += narrow_pointers(match, arguments)
    unmet: tuple[Need, ...] = ()
    ended: tuple[End, ...] = ()
    if version is not None and target is not None:
        unmet, ended = match.unmet(version, target), match.ended(version, target)
    if problems or unmet or ended:
        return Verdict(match, problems, unmet, ended)
    return None
