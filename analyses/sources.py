"""Where values are the same for many threads, and where they begin to differ: the levels of uniformity,
and what each instruction adds to those of its inputs.

1. A value is uniform in the grid, in each block (CTA), or in each warp when the threads of that group
   that execute a step together all have the same. Where that cannot be told it is `UNKNOWN`; `DIVERGENT`
   where it comes from something that tells threads apart.
2. An instruction that only computes gives what its inputs are. Special registers, constants and the
   parameters of a kernel have levels of their own (`special`, `floor`).
3. What is loaded is at least what the address is. Memory that no one writes (`.const`, `ld.global.nc`,
   parameters of a kernel) adds nothing. From memory that may be written, the threads of a warp load the
   same at one uniform address, since they load together; other warps may load later. This does not hold
   for `.volatile`, `.relaxed`, `.acquire` and `.mmio`, each of whose loads may see another value: unknown.
4. `.local` memory is each thread's own: unknown. So is a generic load that may be one of local memory:
   in a function that is no kernel, and where a kernel has variables in `.local` or makes such addresses.
5. Votes, `match.all`, `redux` and the lane that `elect` names are the same for all threads of the mask, so
   at most as uniform as a warp, and as the mask. So is `shfl.idx` over the whole warp from a uniform lane.
   Other shuffles give what they are given. Where the manual calls the value of a shuffle undefined (from a
   lane that is inactive), nothing is said.
6. `bar.red` gives all threads of a block the same. Atomics, matrix fragments, `match.any` and the
   predicate of `elect` differ. Instructions that are not listed here give something unknown.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple


class Level(IntEnum):
    """For how many threads a value is the same; a larger one means fewer."""

    GRID = 0
    BLOCK = 1
    WARP = 2
    UNKNOWN = 3
    DIVERGENT = 4

    @property
    def is_uniform(self) -> bool:
        """Whether all threads of each warp have the same."""
        return self <= Level.WARP


class Size(NamedTuple):
    """The threads of a block in each dimension, as `.reqntid` has it; 0 where it is not known.

    `.maxntid` bounds the product alone.
    """

    x: int = 0
    y: int = 0
    z: int = 0

    def of(self, component: str) -> int:
        return {".x": self.x, ".y": self.y, ".z": self.z}.get(component, 1)


class Floor(NamedTuple):
    """What a result is at best, and why. `second` is for the second result of a pair (`d|p`).

    `inputs` are the operands that matter beside that; None where all do.
    """

    level: Level
    text: str = ""
    second: Level | None = None
    inputs: tuple[int, ...] | None = None


def special(name: str, component: str, size: Size) -> Level:
    """The level of a special register (or `WARP_SZ`); `component` is `.x`, or empty for all four."""
    if name == "%tid":
        if not component:
            return Level.DIVERGENT
        return _thread_index(component, size)
    if name in ("%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
                "%lanemask_gt"):
        return Level.DIVERGENT
    if name in ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank"):
        return Level.BLOCK
    if name in ("%warpid", "%smid"):  # the scheduler may change them between two reads
        return Level.WARP
    if name.startswith(("%clock", "%globaltimer", "%pm")):
        return Level.UNKNOWN
    return Level.GRID


def _thread_index(component: str, size: Size) -> Level:
    """Lanes are numbered along x first, then y, then z."""
    if size.of(component) == 1:
        return Level.GRID
    row = size.x
    layer = size.x * size.y
    if component == ".y" and row and row % 32 == 0:
        return Level.WARP
    if component == ".z" and layer and layer % 32 == 0:
        return Level.WARP
    return Level.DIVERGENT


@lru_cache(maxsize=4096)
def floor(spelling: str, operands: int) -> Floor | None:
    """What the results of an instruction with so many operands are at best, by its spelling alone.

    None where the operands themselves must be looked at: loads of parameters and of generic addresses,
    shuffles and calls.
    """
    opcode, *modifiers = spelling.split(".")
    if opcode in _COMPUTING or (opcode[:1] == "v" and opcode[1:4] in _VIDEO):
        return _ADDRESSES.get(opcode, _NOTHING)
    if opcode in ("ld", "ldu"):
        return _load(modifiers)
    if opcode in ("vote", "redux", "match", "elect", "bar", "barrier"):
        return _collective(opcode, modifiers, operands)
    if opcode in ("tex", "tld4", "suld"):
        return Floor(Level.WARP, "reads a texture or surface")
    if opcode in ("shfl", "call"):
        return None
    if opcode in _DIFFERING or opcode == "tcgen05":
        return Floor(Level.DIVERGENT, _DIFFERING.get(opcode, "gives each lane its part"))
    if opcode == "clusterlaunchcontrol" and "query_cancel" in modifiers:
        return _NOTHING
    return Floor(Level.UNKNOWN, f"nothing is known of what `{opcode}` gives")


def _load(modifiers: list[str]) -> Floor | None:
    if not _STRONG.isdisjoint(modifiers):
        return Floor(Level.UNKNOWN, "each thread may load another value")
    if "nc" in modifiers or "const" in modifiers:
        return _NOTHING
    for modifier in modifiers:
        space = modifier.partition("::")[0]
        if space == "param":
            return None
        if space == "local":
            return Floor(Level.UNKNOWN, "loads what the thread has in its local memory")
        if space in ("global", "shared"):
            return LOADED
    return None


def _collective(opcode: str, modifiers: list[str], operands: int) -> Floor:
    together = "is the same for the threads of one warp that take part"
    if opcode == "match" and "any" in modifiers:
        return Floor(Level.DIVERGENT, "compares lanes with each other")
    if opcode == "elect":
        return Floor(Level.WARP, together, Level.DIVERGENT, (1,))
    if opcode in ("bar", "barrier"):
        if operands == 3:
            return Floor(Level.BLOCK, "is the same for the threads of one block", None, (1,))
        return Floor(Level.WARP, "is the same for the threads at one barrier", None, (1, 2))
    return Floor(Level.WARP, together, None, (2,) if "sync" in modifiers else ())


_NOTHING = Floor(Level.GRID)
LOADED = Floor(Level.WARP, "loads what other warps may load at another time")
"""What a load of writable memory gives at best."""

_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio"})
_ADDRESSES = {
    "mapa": Floor(Level.BLOCK, "gives an address of the block"),
    "getctarank": Floor(Level.BLOCK, "gives the rank of a block"),
    "cvta": Floor(Level.BLOCK, "gives an address of the block"),
}
_COMPUTING = frozenset(
    """
    abs add addc and bfe bfi bfind bmsk brev clmad clz cnot copysign cos createpolicy cvt cvta div dp2a
    dp4a ex2 fma fns getctarank isspacep istypep lg2 lop3 mad mad24 madc mapa max min mov mul mul24 neg
    not or popc prmt rcp rem rsqrt sad selp set setp shf shl shr sin slct sqrt sub subc suq szext tanh
    testp txq xor
    """.split()
)
_VIDEO = frozenset({"add", "sub", "abs", "min", "max", "shl", "shr", "mad", "set", "avr"})
_DIFFERING = {
    "atom": "gives each thread what it found",
    "mma": "gives each lane its part of a matrix",
    "wmma": "gives each lane its part of a matrix",
    "wgmma": "gives each lane its part of a matrix",
    "ldmatrix": "gives each lane its part of a matrix",
    "movmatrix": "gives each lane its part of a matrix",
}
