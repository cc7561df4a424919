"""All that the analyses tell of a function, in terms that do not depend on how it came to be known."""

from __future__ import annotations

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.dominance import dominance
from ptx_lsp.analyses.dataflow.definite_assignment import uninitialized_reads
from ptx_lsp.analyses.dataflow.liveness import liveness
from ptx_lsp.analyses.dataflow.pointer_provenance import pointer_accesses, pointer_provenance
from ptx_lsp.analyses.dataflow.ssa import NONE, SsaForm, ssa_form
from ptx_lsp.analyses.divergence.lane_values import LaneValues, first_warp_values, lane_values
from ptx_lsp.analyses.divergence.memory_access import WarpAccess, memory_access
from ptx_lsp.analyses.divergence.uniformity import uniformity
from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.analyses.registers.estimated_registers import estimated_registers
from ptx_lsp.analyses.registers.machine_instructions import MachineInstruction, machine_instruction
from ptx_lsp.analyses.registers.register_pressure import register_pressure
from ptx_lsp.analyses.registers.scheduling.straight_line_regions import straight_line_regions
from ptx_lsp.analyses.registers.simulated_registers import simulated_registers
from ptx_lsp.analyses.registers.virtual_register_liveness import virtual_register_liveness
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_counts, shapes
from ptx_lsp.model.instructions.uses import unused
from ptx_lsp.model.instructions.wakes import function_wakes
from ptx_lsp.model.place import Located
from ptx_lsp.model.symbols import Declared

AnalysisResults = dict[str, object]


def analysis_results(function: Function) -> AnalysisResults:
    """What each analysis tells, by its name."""
    flow, live, need = instructions(function), liveness(function), register_pressure(function)
    left = virtual_registers(function)
    ways = dominance(function)
    return {
        "statements": [_where(function, one) for one in function.body.statements],
        "arguments": [shape.arguments for shape in shapes(function)],
        "shapes": {
            (one.spelling, one.arguments, one.features): times
            for one, times in shape_counts(function).counts.items()
        },
        "wakes": function_wakes(function),
        "steps": [_step(function, one) for one in flow.instructions],
        "registers": [(one.name, one.type) for one in flow.registers],
        "cfg": (cfg(function).blocks, ways.immediate_dominators, ways.immediate_postdominators),
        "liveness": (
            live.live_in,
            live.live_out,
            live.kills,
            live.not_yet_defined,
            live.live_on_entry,
        ),
        "initialization": uninitialized_reads(function),
        "pressure": (need.units, need.predicates, [one.name for one in need.live_at_peak]),
        "words": (
            left.code.of_registers,
            [tuple(left.definitions.of(register)) for register in range(len(left.code.of_registers))],
            [
                None if is_eliminated else _operation(function, machine_instruction(left, number))
                for number, is_eliminated in enumerate(left.code.is_eliminated)
            ],
            [
                (one.upward_exposed, one.defined, one.pressure, one.results, one.has_pair)
                for one in left.blocks.values()
            ],
        ),
        "words alive": [
            virtual_register_liveness(function).live_in_any((block.number,))
            for block in cfg(function).blocks
        ],
        "runs": [
            (
                run.min_registers(b""), run.registers_with_hoisting(40, b""), run.live_out,
                run.bound, run.results,
            )
            for run in straight_line_regions(function)
        ],
        "parameters of runs": straight_line_regions(function).parameters,
        "registers estimated": estimated_registers(function),
        "registers simulated": simulated_registers(function),
        "origins": {
            register.name: (origin.space, origin.variable and origin.variable.name, origin.offset)
            for register, origin in pointer_provenance(function).of_registers.items()
        },
        "register accesses": [
            (
                _where(function, one.node),
                _where(function, one.address),
                one.provenance[2:],
                one.size,
            )
            for accesses in pointer_accesses(function).results
            for one in accesses
        ],
        "unused": {_where(function, one.place) for one in unused(function, _declared(function))},
        **_of_values(function),
    }


def _declared(function: Function) -> list[Declared]:
    body = function.body
    return [*body.returns, *body.parameters, *body.variables, *body.registers, *body.labels]


def _of_values(function: Function) -> AnalysisResults:
    found, level = ssa_form(function), uniformity(function)
    of = _Named(found)
    access = memory_access(function)
    numbers = range(len(found.by_instruction))
    return {
        "values": [
            (of.all(one.uses), of.all(one.partial_defs), of.all(one.defs), of.one(one.guard),
             of.one(one.carry_in), of.one(one.carry_out))
            for one in found.by_instruction
        ],
        "joins": [
            [(one.register, one.block, of.all(one.inputs)) for one in joins]
            for joins in found.phis_of
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

    def __init__(self, found: SsaForm) -> None:
        self.names: dict[int, object] = {NONE: None}
        for value in range(len(found.instructions.registers)):
            self.names[value] = "initial", value
        for number, one in enumerate(found.by_instruction):
            for place, value in enumerate((*one.defs, one.carry_out)):
                if value != NONE:
                    self.names[value] = "step", number, place
        for value, join in found.phis.items():
            self.names[value] = "join", join.block, join.register

    def one(self, value: int) -> object:
        return self.names[value]

    def all(self, numbers: tuple[int, ...]) -> list[object]:
        return [self.names[value] for value in numbers]

    def lanes(self, found: LaneValues) -> object:
        known = {name: found.value(value) for value, name in self.names.items()}
        return known, {self.names[value] for value in found.data}

    def access(self, one: WarpAccess) -> object:
        return one._replace(base=0), self.names[one.base]


def _where(function: Function, part: Located) -> tuple[int, int]:
    return function.span(part)


def _step(function: Function, step: InstructionInfo) -> object:
    return (
        step.number, _where(function, step.node), step.spelling, step.uses, step.defs,
        step.partial_defs, step.guard,
    )  # fmt: skip


def _operation(function: Function, one: MachineInstruction) -> object:
    return _where(function, one.instruction.node), one[1:]
