"""The dependence graph of a straight-line region: which instructions depend on which, and their latencies.

1. An instruction depends on the definitions of the virtual registers and flags that it reads, by their
   latency (true dependence); on earlier reads of registers that it redefines (anti-dependence); and on
   earlier writes of the same register (output dependence).
2. A load depends on earlier stores to the same state space. A store depends on earlier loads and stores.
   Accesses to the same base at different offsets are independent. Only the nearest 32 accesses are
   considered. Loads of constant memory (`.const`, `.param`, `.nc`) have no memory dependence.
3. Barriers, fences, calls and volatile accesses are ordered with all memory accesses.
4. The terminator of a block depends on all other instructions.
5. Nothing is moved across instructions whose machine code has branches or a call. These are the divisions and
   roots of `f32` that round correctly and of `f64` (all have a slow path), integer divisions of other than 32
   bits, also by constants, and atomics that are loops: on floats or on 64 bits in shared memory (except `cas`
   and `exch`), and on floats at generic addresses. ptxas 13.5 treats sm_75 to sm_120 alike here.

The latencies approximate those of current GPUs, in cycles. Only their ratios matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ptx_lsp.analyses._flow import DependenceGraph, Operands
from ptx_lsp.analyses.instructions.constants import literal
from ptx_lsp.analyses.instructions.instruction_kind import InstructionKind
from ptx_lsp.analyses.instructions.uses_and_defs import FunctionInstructions
from ptx_lsp.isa.matching.shape import Shape
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

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
_SPACES: Final = (".shared", ".global", ".local", ".const", ".param", "")
_ROUNDINGS: Final = frozenset({"rn", "rz", "rm", "rp"})
_SIMPLE_ATOMICS: Final = frozenset({"cas", "exch"})
_FLAG_CYCLES: Final = 6
_CYCLES: Final = {
    "ld": 300, "ldu": 300, "atom": 400, "tex": 400, "tld4": 400, "suld": 400, "shfl": 25, "vote": 12,
    "match": 20, "redux": 20, "sin": 20, "cos": 20, "ex2": 20, "lg2": 20, "rcp": 20, "rsqrt": 20,
    "sqrt": 30, "tanh": 20, "mma": 33, "wmma": 40, "ldmatrix": 33, "div": 40, "rem": 40, "cvt": 8,
    "popc": 12, "bfind": 12, "clz": 12, "brev": 12,
}  # fmt: skip
_NEAR_SPACES: Final = {".shared": 45, ".const": 30, ".param": 30, ".local": 60}


class MemoryEffect:
    """How an instruction accesses memory; `DependenceGraph` knows the same numbers."""

    NONE: Final = 0
    LOAD: Final = 1
    STORE: Final = 2
    """Also what both loads and stores."""
    BARRIER: Final = 3
    END: Final = 4
    """Ends a basic block of the machine code: nothing is moved across it."""


class SchedulingClass(NamedTuple):
    """The properties that instructions of the same shape share."""

    latency: int
    latency_without_operands: int
    effect: int
    space: int
    ends_block: bool


@lru_cache(maxsize=1 << 15)
def scheduling_class(shape: Shape) -> SchedulingClass:
    """The scheduling class of the instructions of a shape."""
    spelling = shape.spelling
    space = _space(spelling)
    return SchedulingClass(
        latency(spelling, False),
        latency(spelling, True),
        _effect(shape.opcode, spelling, space),
        _SPACES.index(space),
        shape.opcode in _LAST,
    )


def dependence_graph(flow: FunctionInstructions, operands: Operands) -> DependenceGraph:
    """The dependence graph of a straight-line region."""
    numbers, uses = operands.numbers, flow.uses
    kinds = list(map(flow.kinds.__getitem__, numbers))
    known = {kind: scheduling_class(kind.shape) for kind in set(kinds)}
    with_operands = {kind: one.latency for kind, one in known.items()}
    cycles = list(map(with_operands.__getitem__, kinds))
    without = {kind for kind, one in known.items() if one.latency_without_operands != one.latency}
    if without:
        for place, kind in enumerate(kinds):
            if kind in without and not uses[numbers[place]]:
                cycles[place] = known[kind].latency_without_operands
    accesses = _accesses(flow, numbers, kinds, known)
    is_ended = bool(kinds) and known[kinds[-1]].ends_block
    return DependenceGraph(operands, cycles, _FLAG_CYCLES, accesses, is_ended)


def _accesses(
    flow: FunctionInstructions,
    numbers: Sequence[int],
    kinds: Sequence[InstructionKind],
    known: Mapping[InstructionKind, SchedulingClass],
) -> list[tuple[int, int, int, int] | None]:
    """The memory access of each instruction (2): its effect, and numbers for its space, base and place."""
    bases: dict[str, int] = {"": 0}
    places: dict[tuple[str, int], int] = {}
    found: list[tuple[int, int, int, int] | None] = [None] * len(numbers)
    accessing = {kind for kind, one in known.items() if one.effect}
    for at, kind in enumerate(kinds):
        if kind in accessing:
            base, offset = _base_and_offset(flow.body.instructions[numbers[at]])
            place = places.setdefault((base, offset), len(places))
            one = known[kind]
            found[at] = one.effect, one.space, bases.setdefault(base, len(bases)), place
    return found


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
    return _CYCLES.get(opcode, 4)


def _space(spelling: str) -> str:
    return next((space for space in _SPACES if space in spelling), "")


def _effect(opcode: str, spelling: str, space: str) -> int:
    if ends_block(spelling):
        return MemoryEffect.END
    if opcode in _ORDERS or ".volatile" in spelling:
        return MemoryEffect.BARRIER
    if (
        opcode not in _MEMORY
        or ".nc" in spelling
        or (opcode == "ld" and space in (".const", ".param"))
    ):
        return MemoryEffect.NONE
    is_load = opcode in _LOADS or (opcode == "wmma" and ".load" in spelling)
    return MemoryEffect.LOAD if is_load else MemoryEffect.STORE


@lru_cache(maxsize=4096)
def ends_block(spelling: str) -> bool:
    """Whether the machine code of an instruction has branches or a call (5)."""
    opcode, *modifiers = spelling.split(".")
    wide = any(one.endswith("64") for one in modifiers)
    match opcode:
        case "div" | "rem" | "rcp" | "sqrt" | "rsqrt":
            if "f32" in modifiers:
                return not _ROUNDINGS.isdisjoint(modifiers)
            if "f64" in modifiers:
                return opcode == "rsqrt" or "approx" not in modifiers
            return wide or not modifiers or "32" not in modifiers[-1]
        case "atom" | "red":
            is_float = any(one in ("f32", "f64") for one in modifiers)
            if "shared" in modifiers:
                return is_float or (wide and _SIMPLE_ATOMICS.isdisjoint(modifiers))
            return is_float and "global" not in modifiers
        case _:
            return False


def _base_and_offset(node: nodes.Instruction) -> tuple[str, int]:
    """The base of the address that an instruction accesses, and the constant that is added to it."""
    for operand in node.operands:
        match operand:
            case nodes.Address(items=(nodes.Name(text=base), *_)):
                return base, 0
            case nodes.Address(
                items=(nodes.Binary(operator=sign, left=nodes.Name(text=base), right=right), *_)
            ):
                offset = literal(right)
                if offset is not None:
                    return base, -offset if sign == "-" else offset
            case _:
                pass
    return "", 0
