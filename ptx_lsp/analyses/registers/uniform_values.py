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

from collections.abc import Iterable, Sequence
from functools import lru_cache

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
_MOST_WORDS: Final = 2
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
        self.operations = {
            shape: numbers
            for shape, numbers in shape_index(function).items()
            if _is_uniform_operation(shape, target)
        }
        """The instructions that the uniform datapath could execute."""
        self.words: set[int] = set()
        self.instructions: set[int] = set()
        self.readers = readers(function)

    def run(self) -> UniformValues:
        variables = self.variables()
        for register in variables:
            self.words.update(self.code.allocated[register])
            self.instructions.update(self.definitions.of(register))
        self.grow(variables)
        self.shrink([
            register
            for register in variables
            if not all(map(self.reads_known, self.definitions.of(register)))
        ])
        graph = cfg(self.function)
        blocks = {graph.block_of[number] for number in self.instructions}
        is_later = graph.blocks[0].predecessors or blocks - {0}  # all threads execute the first one together
        matters = is_later or self.target >= LOADS_PARAMETERS
        divergent = self.divergent_blocks() if matters else set[int]()
        self.leave_out(divergent)
        self.words.discard(NO_REGISTER)
        return UniformValues(self.words, self.instructions, divergent)

    def variables(self) -> set[int]:
        """The registers with several definitions that may be uniform (3)."""
        allocated = self.code.allocated
        return {
            register
            for register in self.definitions.several
            if 0 < len(allocated[register]) <= _MOST_WORDS
            and all(map(self.may_be_uniform, self.definitions.of(register)))
        }

    def grow(self, known: Iterable[int]) -> None:
        """Adds what follows from parameters, special registers and these registers."""
        flow, is_eliminated = self.flow, self.code.is_eliminated
        ready, seen = [*known], set[int]()
        for number in set(self.code.loads.values()):
            ready += flow.defs[number]
        for shape, numbers in self.operations.items():
            if shape.opcode == "mov":
                for number in numbers:
                    if not flow.uses[number] and not is_eliminated[number]:
                        ready += self.defined_by(number)
        while ready:
            register = ready.pop()
            if register in seen:
                continue
            seen.add(register)
            for number in self.readers.of(register):
                if is_eliminated[number]:
                    ready += filter(self.is_known, flow.defs[number])
                elif number not in self.instructions:
                    ready += self.defined_by(number)

    def shrink(self, wrong: list[int]) -> None:
        """Removes variables, and what is only uniform with them."""
        flow, is_eliminated = self.flow, self.code.is_eliminated
        seen = set[int]()
        for register in wrong:
            self.remove(register)
        while wrong:
            reached = wrong.pop()
            if reached in seen:
                continue
            seen.add(reached)
            for number in self.readers.of(reached):
                register = flow.defs[number][0] if flow.defs[number] else -1
                if is_eliminated[number]:
                    wrong += [one for one in flow.defs[number] if not self.is_known(one)]
                elif number in self.instructions and not self.reads_known(number):
                    self.remove(register)
                    wrong.append(register)

    def remove(self, register: int) -> None:
        self.words.difference_update(self.code.allocated[register])
        self.instructions.difference_update(self.definitions.of(register))

    def defined_by(self, number: int) -> Sequence[int]:
        """The register that an instruction makes uniform."""
        if not self.may_be_uniform(number) or not self.reads_known(number):
            return ()
        register = self.flow.defs[number][0]
        words = self.code.defined_by(register)
        if self.definitions.only[register] != number or not 0 < len(words) <= _MOST_WORDS:
            return ()
        self.instructions.add(number)
        self.words.update(words)
        return (register,)

    def may_be_uniform(self, number: int) -> bool:
        """Whether an instruction is an operation of the uniform datapath."""
        flow = self.flow
        return (
            flow.kinds[number].shape in self.operations
            and flow.guards[number] < 0
            and len(flow.defs[number]) == 1
            and not flow.partial_defs[number]
            and not self.code.is_eliminated[number]
        )

    def reads_known(self, number: int) -> bool:
        """Whether an instruction reads only known values."""
        uses = self.flow.uses[number]
        if uses or self.flow.kinds[number].opcode != "mov":
            return all(map(self.is_known, uses))
        return _is_uniform_source(self.flow.body.instructions[number].operands[-1], self.target)

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
        graph, pruned = cfg(self.function), early_exits(self.function).pruned
        edges = pruned.graph.successors
        found: set[int] = set()
        for block in pruned.graph.reverse_postorder:
            if (
                len(edges[block]) < 2
                or block in found  # then so is all up to where its threads reconverge
                or self.branches_together(graph.blocks[block].end - 1)
            ):
                continue
            end, seen, waiting = pruned.reconvergence(block), set[int](), list(edges[block])
            while waiting:
                one = waiting.pop()
                if one != end and one not in seen:
                    seen.add(one)
                    waiting += edges[one]
            found |= seen
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
            and self.reads_known(test)
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
    integers = (*_INTEGERS, *_LONG_INTEGERS) if loads_parameters else _INTEGERS
    return (
        (shape.opcode in _OPERATIONS or is_minimum)
        and any(one in spelling for one in integers)
        and not any(one in spelling for one in _OTHERS)
        and (loads_parameters or ".wide" not in spelling)
    )
