"""The dependence graph of a straight-line region: which instructions depend on which, and their latencies.

1. An instruction depends on the definitions of the virtual registers and flags that it reads, by their
   latency (true dependence); on earlier reads of registers that it redefines (anti-dependence); and on
   earlier writes of the same register (output dependence).
2. A load depends on earlier stores to the same state space. A store depends on earlier loads and stores.
   Accesses to the same base at different offsets are independent. Only the nearest accesses are considered
   (`NEAREST`). Loads of constant memory (`.const`, `.param`, `.nc`) have no memory dependence.
3. Barriers, fences, calls and volatile accesses are ordered with all memory accesses.
4. The terminator of a block depends on all other instructions.

The latencies approximate those of current GPUs, in cycles. Only their ratios matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from analyses.registers.machine_instructions import MachineInstruction
from analyses.registers.virtual_registers import constant
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.syntax import nodes

NEAREST: Final = 32

_MEMORY: Final = frozenset(
    {
        "ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "wmma", "tex", "tld4", "suld",
        "sust", "sured", "prefetch", "mbarrier", "multimem",
    }
)
_LOADS: Final = frozenset({"ld", "ldu", "ldmatrix", "tex", "tld4", "suld"})
_ORDERS: Final = frozenset(
    {"bar", "barrier", "membar", "fence", "call", "wgmma", "tcgen05", "griddepcontrol"}
)
_LAST: Final = frozenset({"bra", "brx", "ret", "exit", "trap"})
_SPACES: Final = (".shared", ".global", ".local", ".const", ".param")
_FLAG_CYCLES: Final = 6
_CYCLES: Final = {
    "ld": 300, "ldu": 300, "atom": 400, "tex": 400, "tld4": 400, "suld": 400, "shfl": 25, "vote": 12,
    "match": 20, "redux": 20, "sin": 20, "cos": 20, "ex2": 20, "lg2": 20, "rcp": 20, "rsqrt": 20,
    "sqrt": 30, "tanh": 20, "mma": 33, "wmma": 40, "ldmatrix": 33, "div": 40, "rem": 40, "cvt": 8,
    "popc": 12, "bfind": 12, "clz": 12, "brev": 12,
}  # fmt: skip
_NEAR_SPACES: Final = {".shared": 30, ".const": 30, ".param": 30, ".local": 60}


class DependenceEdge(NamedTuple):
    """An instruction that must wait for another, and the minimum number of cycles."""

    successor: int
    latency: int


class DependenceGraph:
    """For each instruction of the region, by position: its dependents, the number of its dependences, and the
    length of its critical path.
    """

    __slots__ = ("critical_path", "predecessor_counts", "successors")

    def __init__(
        self,
        successors: tuple[tuple[DependenceEdge, ...], ...],
        predecessor_counts: tuple[int, ...],
        critical_path: tuple[int, ...],
    ) -> None:
        self.successors: Final = successors
        self.predecessor_counts: Final = predecessor_counts
        self.critical_path: Final = critical_path
        """The cycles from the start of each instruction to the end of the longest dependent chain."""


def dependence_graph(operations: Sequence[MachineInstruction]) -> DependenceGraph:
    """The dependence graph of a straight-line region."""
    return _Builder(operations).build()


@lru_cache(maxsize=4096)
def latency(spelling: str, reads_nothing: bool) -> int:
    """The cycles until the result of an instruction is available."""
    opcode = spelling.partition(".")[0]
    if opcode == "ld":
        return _NEAR_SPACES.get(_space(spelling), _CYCLES["ld"])
    if opcode == "mov" and reads_nothing:
        return 20  # a special register
    if ".f64" in spelling and opcode in ("add", "mul", "fma", "mad", "sub"):
        return 16
    return _CYCLES.get(opcode, 5)


def _space(spelling: str) -> str:
    return next((space for space in _SPACES if space in spelling), "")


class _MemoryReference(NamedTuple):
    number: int
    base: str
    offset: int

    def may_alias(self, other: _MemoryReference) -> bool:
        """Whether both may access the same memory."""
        return self.base != other.base or not self.base or self.offset == other.offset


class _Builder:
    def __init__(self, operations: Sequence[MachineInstruction]) -> None:
        self.operations = operations
        self.after: list[list[DependenceEdge]] = [[] for _ in operations]
        self.waits_for = [0] * len(operations)
        self.cycles = [
            latency(operation.instruction.spelling, not operation.instruction.uses)
            for operation in operations
        ]
        self.written: dict[int, int] = {}
        self.readers: defaultdict[int, list[int]] = defaultdict(list)
        self.loads: defaultdict[str, list[_MemoryReference]] = defaultdict(list)
        self.stores: defaultdict[str, list[_MemoryReference]] = defaultdict(list)
        self.since_order: list[int] = []
        self.order = -1

    def build(self) -> DependenceGraph:
        for number, operation in enumerate(self.operations):
            self.values(number, operation)
            self.memory(number, operation)
        if self.operations and self.operations[-1].instruction.opcode in _LAST:
            last = len(self.operations) - 1
            for number in range(last):
                if not self.after[number]:
                    self.edge(number, last, 0)
        urgency = [0] * len(self.operations)
        for number in range(len(urgency) - 1, -1, -1):
            longest = self.cycles[number]
            for other, cycles in self.after[number]:
                if cycles + urgency[other] > longest:
                    longest = cycles + urgency[other]
            urgency[number] = longest
        return DependenceGraph(tuple(map(tuple, self.after)), tuple(self.waits_for), tuple(urgency))

    def edge(self, earlier: int, later: int, cycles: int) -> None:
        if earlier != later:
            self.after[earlier].append(DependenceEdge(later, cycles))
            self.waits_for[later] += 1

    def values(self, number: int, operation: MachineInstruction) -> None:
        written, readers = self.written, self.readers
        for word in operation.uses | operation.partial_defs if operation.partial_defs else operation.uses:
            if word in written:
                self.edge(written[word], number, self.cycles[written[word]])
        for word in operation.uses:
            readers[word].append(number)
        for flag in operation.flags_read:
            key = -2 - flag
            if key in written:
                self.edge(written[key], number, _FLAG_CYCLES)
            readers[key].append(number)
        for key in (*operation.defs, *(-2 - flag for flag in operation.flags_written)):
            for reader in readers.pop(key, ()):
                self.edge(reader, number, 0)
            if key in written:
                self.edge(written[key], number, 1)
            written[key] = number

    def memory(self, number: int, operation: MachineInstruction) -> None:
        spelling, opcode = operation.instruction.spelling, operation.instruction.opcode
        if opcode in _ORDERS or ".volatile" in spelling:
            for since in self.since_order:
                self.edge(since, number, 0)
            if self.order >= 0:
                self.edge(self.order, number, 0)
            self.order = number
            self.since_order = []
            self.loads.clear()
            self.stores.clear()
        elif opcode in _MEMORY:
            space = _space(spelling)
            if ".nc" in spelling or (opcode == "ld" and space in (".const", ".param")):
                return
            if self.order >= 0:
                self.edge(self.order, number, 0)
            self.since_order.append(number)
            access = _memory_reference(number, operation)
            is_load = opcode in _LOADS or (opcode == "wmma" and ".load" in spelling)
            earlier = [*self.stores[space][-NEAREST:]]
            if not is_load:
                earlier += self.loads[space][-NEAREST:]
            for other in earlier:
                if other.may_alias(access):
                    self.edge(other.number, number, 0)
            (self.loads if is_load else self.stores)[space].append(access)


def _memory_reference(number: int, operation: MachineInstruction) -> _MemoryReference:
    for operand in operation.instruction.node.operands:
        match operand:
            case nodes.Address(items=(nodes.Name(text=base), *_)):
                return _MemoryReference(number, base, 0)
            case nodes.Address(
                items=(nodes.Binary(operator=sign, left=nodes.Name(text=base), right=right), *_)
            ):
                offset = constant(right)
                if offset is not None:
                    return _MemoryReference(number, base, -offset if sign == "-" else offset)
            case _:
                pass
    return _MemoryReference(number, "", 0)
