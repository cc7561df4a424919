"""The values that uniform registers could hold, for a class of targets.

1. The uniform datapath computes 32-bit integers from parameters, constants, other such values, and special
   registers that it can read (`%ctaid` and the like, from sm_90 on), and from there on also 64-bit integers.
   Loaded values never are uniform.
2. Code that only some threads of a warp may execute computes none: blocks that depend on a branch whose
   predicate is not computed from such values. Early exits do not count (`early_exits`).
3. A register with several definitions is uniform if all its definitions are; as in a loop, the others are
   assumed to be.

Source: machine code of ptxas 13.5 for sm_75, 80, 90, 100 and 120. Most instructions read no such value, so
only the readers of known ones are visited.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.analyses import _flow
from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.analyses.control_flow.early_exits import early_exits
from ptx_lsp.analyses.dataflow.definitions import readers
from ptx_lsp.analyses.registers.machine_blocks import NO_REGISTER
from ptx_lsp.analyses.registers.virtual_registers import virtual_registers
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.shapes import shape_index
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

LOADS_PARAMETERS: Final = 90
"""From this target on, no instruction reads its operands from the constant bank."""
_BANKED: Final = ("%ntid", "%nctaid")
_SPECIAL: Final = (*_BANKED, "%ctaid", "%cluster", "%gridid", "%nsmid")
_INTEGERS: Final = (".s32", ".u32", ".b32")
_LONG_INTEGERS: Final = (".s64", ".u64", ".b64")
_OTHERS: Final = (".hi", ".sat", ".cc", ".pred", ".f64", ".f32", ".f16")
_OPERATIONS: Final = frozenset({
    "add", "sub", "mul", "mad", "and", "or", "xor", "not", "shl", "shr", "selp", "mov", "neg", "lop3", "popc",
    "prmt", "bfe", "bfi", "shf", "brev",
})  # fmt: skip


class UniformValues(NamedTuple):
    """The virtual registers, and the instructions that define them."""

    words: set[int]
    instructions: set[int]
    divergent: set[int]
    """The blocks that only some threads of a warp may execute together."""


def uniform_values(function: Function, target: int) -> UniformValues:
    """The uniform values of a function on a class of targets, named by its first target."""
    return _Search(function, target).run()


class _Search:
    def __init__(self, function: Function, target: int) -> None:
        left = virtual_registers(function)
        self.function = function
        self.target = target
        self.definitions = left.definitions
        self.code = left.code
        self.flow = left.code.flow
        self.words, self.instructions = self.without_control_flow()

    def run(self) -> UniformValues:
        graph = cfg(self.function)
        blocks = {graph.block_of[number] for number in self.instructions}
        is_later = graph.blocks[0].predecessors or blocks - {0}  # all threads execute the first one together
        matters = is_later or self.target >= LOADS_PARAMETERS
        divergent = self.divergent_blocks() if matters else set[int]()
        self.leave_out(divergent)
        return UniformValues(self.words, self.instructions, divergent)

    def without_control_flow(self) -> tuple[set[int], set[int]]:
        """The virtual registers and instructions as if all threads of a warp branched alike (1, 3)."""
        flow, code, target = self.flow, self.code, self.target
        operations = {kind for kind in code.kinds if _is_uniform_operation(kind.shape, target)}
        sources: list[int] = []
        varying: set[int] = set()
        for shape, numbers in shape_index(self.function).items():
            if shape.opcode != "mov" or not _is_uniform_operation(shape, target):
                continue
            for number in numbers:
                if flow.uses[number] or not flow.defs[number] or code.is_eliminated[number]:
                    continue
                if _is_uniform_source(flow.body.instructions[number].operands[-1], target):
                    sources.append(number)
                else:
                    varying.add(number)
        return _flow.uniform_values(
            flow.uses, flow.defs, flow.partial_defs, flow.guards, flow.kinds, code.of_registers,
            code.allocated, code.is_eliminated, code.loads, self.definitions.only, self.definitions.several,
            readers(self.function), operations, varying, list(set(code.loads.values())), sources,
        )  # fmt: skip

    def is_known(self, register: int) -> bool:
        """Whether a register holds parameters, constants and uniform values."""
        held, words, loads = self.code.of_registers[register], self.words, self.code.loads
        for word in held:
            if word != NO_REGISTER and word not in words and word not in loads:
                return False
        return bool(held)

    # -- control flow (2) --------------------------------------------------------------------------

    def leave_out(self, blocks: set[int]) -> None:
        """Removes the values that instructions in these blocks define."""
        if not blocks:
            return
        block_of, flow = cfg(self.function).block_of, self.flow
        gone = {number for number in self.instructions if block_of[number] in blocks}
        self.instructions -= gone
        for number in gone:
            self.words.difference_update(self.code.of_registers[flow.defs[number][0]])

    def divergent_blocks(self) -> set[int]:
        """The blocks that only some threads of a warp may execute together."""
        blocks, pruned = cfg(self.function).blocks, early_exits(self.function).pruned
        edges = pruned.graph.successors
        found: set[int] = set()
        for block in pruned.graph.reverse_postorder:
            if (
                len(edges[block]) > 1
                and block not in found  # then so is all up to where its threads reconverge
                and not self.branches_together(blocks[block].end - 1)
            ):
                found |= pruned.graph.walks.reachable(edges[block], pruned.reconvergence(block))
        return found

    def branches_together(self, number: int) -> bool:
        """Whether all threads of a warp branch alike."""
        flow, only = self.flow, self.definitions.only
        guard = flow.guards[number]
        test = only[guard] if guard >= 0 else -1
        return (
            test >= 0
            and flow.kinds[test].opcode == "setp"
            and flow.guards[test] < 0
            and bool(flow.uses[test])
            and all(map(self.is_known, flow.uses[test]))
        )


def _is_uniform_source(operand: nodes.Operand, target: int) -> bool:
    """Whether what `mov` reads is a constant, or a special register that the uniform datapath can read."""
    name = operand.object if isinstance(operand, nodes.Member) else operand
    known = _SPECIAL if target >= LOADS_PARAMETERS else _BANKED
    return not isinstance(name, nodes.Name) or name.text.startswith(known) or name.text[0] != "%"


@lru_cache(maxsize=1 << 14)
def _is_uniform_operation(shape: Shape, target: int) -> bool:
    """Whether the uniform datapath has an operation on integers. From sm_90 on, ptxas also uses it for a
    minimum, as a comparison and a selection, and for 64-bit integers.
    """
    spelling = shape.spelling
    loads_parameters = target >= LOADS_PARAMETERS
    is_minimum = shape.opcode in ("min", "max") and loads_parameters and "64" not in spelling
    if shape.opcode not in _OPERATIONS and not is_minimum:
        return False
    integers = (*_INTEGERS, *_LONG_INTEGERS) if loads_parameters else _INTEGERS
    return (
        any(one in spelling for one in integers)
        and not any(one in spelling for one in _OTHERS)
        and (loads_parameters or ".wide" not in spelling)
    )
