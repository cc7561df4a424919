"""All that the analyses tell of a function, in terms that do not depend on how it came to be known."""

from __future__ import annotations

from analyses.cfg import cfg
from analyses.dominance import dominance
from analyses.initialization import unwritten_reads
from analyses.lane_values import LaneValues, first_warp_values, lane_values
from analyses.liveness import liveness
from analyses.memory_access import Access, memory_access
from analyses.origins import origins, register_accesses
from analyses.pressure import pressure
from analyses.registers import register_estimate
from analyses.steps import Step, steps
from analyses.uniformity import uniformity
from analyses.unrolling import runs
from analyses.values import NONE, Values, values
from analyses.words import Operation, words
from analyses.words_alive import words_alive
from ptx_lsp.model.arguments import all_arguments
from ptx_lsp.model.function import Function
from ptx_lsp.model.place import Located
from ptx_lsp.model.symbols import Declared
from ptx_lsp.model.uses import unused

Told = dict[str, object]


def told(function: Function) -> Told:
    """What each analysis tells, by its name."""
    flow, live, need = steps(function), liveness(function), pressure(function)
    left = words(function)
    ways = dominance(function)
    return {
        "statements": [_where(function, one) for one in function.body.statements],
        "arguments": all_arguments(function),
        "steps": [_step(function, one) for one in flow.steps],
        "registers": [(one.name, one.type) for one in flow.registers],
        "cfg": (cfg(function).blocks, ways.immediate, ways.immediate_post),
        "liveness": (live.live_in, live.live_out, live.kills, live.unborn, live.exposed),
        "initialization": unwritten_reads(function),
        "pressure": (need.units, need.predicates, [one.name for one in need.live_at_peak]),
        "words": (left.values, [_operation(function, one) for one in left.operations]),
        "words alive": [words_alive(function).at((block.number,)) for block in cfg(function).blocks],
        "runs": [(run.least(True), run.hoisted(40, False), run.live_out) for run in runs(function)],
        "registers estimated": register_estimate(function),
        "origins": {
            register.name: (origin.space, origin.variable and origin.variable.name, origin.offset)
            for register, origin in origins(function).known.items()
        },
        "register accesses": [
            (_where(function, one.node), _where(function, one.address), one.origin[2:], one.size)
            for one in register_accesses(function)
        ],
        "unused": {_where(function, one.place) for one in unused(function, _declared(function))},
        **_of_values(function),
    }


def _declared(function: Function) -> list[Declared]:
    body = function.body
    return [*body.returns, *body.parameters, *body.variables, *body.registers, *body.labels]


def _of_values(function: Function) -> Told:
    found, level = values(function), uniformity(function)
    of = _Named(found)
    access = memory_access(function)
    numbers = range(len(found.of))
    return {
        "values": [
            (of.all(one.reads), of.all(one.keeps), of.all(one.writes), of.one(one.guard),
             of.one(one.carry_in), of.one(one.carry_out))
            for one in found.of
        ],
        "joins": [
            [(one.register, one.block, of.all(one.inputs)) for one in joins]
            for joins in found.joins_of
        ],
        "uniformity": [
            (level.execution_level(one), level.def_levels(one), level.reasons(one)) for one in numbers
        ],
        "control": [(level.block_level(block.number)) for block in found.cfg.blocks],
        "lanes": of.lanes(lane_values(function)),
        "first warp": of.lanes(first_warp_values(function)),
        "memory": [of.access(one) for one in access.accesses],
        "neighbours": [
            ([of.access(each) for each in one.accesses], one.size, one.is_aligned)
            for one in access.neighbours
        ],
    }  # fmt: skip


class _Named:
    """What makes each value, in place of its number."""

    def __init__(self, found: Values) -> None:
        self.names: dict[int, object] = {NONE: None}
        for value in range(len(found.steps.registers)):
            self.names[value] = "initial", value
        for number, one in enumerate(found.of):
            for place, value in enumerate((*one.writes, one.carry_out)):
                if value != NONE:
                    self.names[value] = "step", number, place
        for value, join in found.joins.items():
            self.names[value] = "join", join.block, join.register

    def one(self, value: int) -> object:
        return self.names[value]

    def all(self, numbers: tuple[int, ...]) -> list[object]:
        return [self.names[value] for value in numbers]

    def lanes(self, found: LaneValues) -> object:
        known = {self.names[value]: lanes for value, lanes in found.offsets.items()}
        return known, {self.names[value] for value in found.data}

    def access(self, one: Access) -> object:
        return one._replace(base=0), self.names[one.base]


def _where(function: Function, part: Located) -> tuple[int, int]:
    return function.span(part)


def _step(function: Function, step: Step) -> object:
    return (
        step.number, _where(function, step.node), step.spelling, step.reads, step.writes,
        step.keeps, step.guard,
    )  # fmt: skip


def _operation(function: Function, one: Operation | None) -> object:
    return None if one is None else (_where(function, one.step.node), one[1:])
