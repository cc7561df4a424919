"""Sources of divergence: what each instruction contributes to the uniformity of its results by itself.

The levels form a lattice, GRID < BLOCK < WARP < UNKNOWN < DIVERGENT; the join of two is the larger.

1. A value is uniform in the grid, in each block (CTA) or in each warp when the threads of that scope that
   execute an instruction together all have the same value. It is `UNKNOWN` where this cannot be decided, and
   `DIVERGENT` where it depends on something that distinguishes threads.
2. An instruction that only computes gives the join of its inputs. Special registers, constants and the
   parameters of a kernel have levels of their own (`special_register_uniformity`, `instruction_uniformity`).
3. A loaded value is no more uniform than its address. Read-only memory (`.const`, `ld.global.nc`, parameters
   of a kernel) adds nothing. Threads of a warp load the same value from writable memory at a uniform address,
   since they load together. Other warps may load later. This does not hold for `.volatile`, `.relaxed`,
   `.acquire` and `.mmio`: each load may see a different value, so the level is unknown.
4. `.local` memory is private to each thread: unknown. A generic load that may access it is also unknown: in a
   function that is not a kernel, and in a kernel that has `.local` variables or creates `.local` addresses.
5. Votes, `match.all`, `redux` and the lane that `elect` names are the same for all threads of the mask. Their
   level is the join of `WARP` and the level of the mask. The same applies to `shfl.idx` over the whole warp
   from a uniform lane. Other shuffles give the join of their inputs. Where the manual leaves the result of a
   shuffle undefined (from an inactive lane), nothing is claimed.
6. `bar.red` gives all threads of a block the same value. Atomics, matrix fragments, `match.any` and the
   predicate of `elect` are divergent. Instructions not listed here are unknown.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

from ptx_lsp.named_tuple import NamedTuple


class UniformityLevel(IntEnum):
    """An element of the uniformity lattice: the largest scope in which a value is the same; larger is
    less uniform.
    """

    GRID = 0
    BLOCK = 1
    WARP = 2
    UNKNOWN = 3
    DIVERGENT = 4

    @property
    def is_uniform(self) -> bool:
        """Whether all threads of each warp have the same value."""
        return self <= UniformityLevel.WARP


class BlockSize(NamedTuple):
    """The threads of a block in each dimension, from `.reqntid`; 0 if unknown.

    `.maxntid` bounds only the product.
    """

    x: int = 0
    y: int = 0
    z: int = 0

    def along(self, component: str) -> int:
        return {".x": self.x, ".y": self.y, ".z": self.z}.get(component, 1)


class InstructionUniformity(NamedTuple):
    """The level that an instruction contributes to its results, and why.

    `second_level` applies to the second result of a pair (`d|p`). `operands` are the operands that also
    contribute; None if all do.
    """

    level: UniformityLevel
    reason: str = ""
    second_level: UniformityLevel | None = None
    operands: tuple[int, ...] | None = None


def special_register_uniformity(name: str, component: str, size: BlockSize) -> UniformityLevel:
    """The level of a special register (or `WARP_SZ`); `component` is `.x`, or empty for all four."""
    if name == "%tid":
        if not component:
            return UniformityLevel.DIVERGENT
        return _thread_index(component, size)
    if name in ("%laneid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
                "%lanemask_gt"):
        return UniformityLevel.DIVERGENT
    if name in ("%ctaid", "%clusterid", "%cluster_ctaid", "%cluster_ctarank"):
        return UniformityLevel.BLOCK
    if name in ("%warpid", "%smid"):  # the scheduler may change them between two reads
        return UniformityLevel.WARP
    if name.startswith(("%clock", "%globaltimer", "%pm")):
        return UniformityLevel.UNKNOWN
    return UniformityLevel.GRID


def _thread_index(component: str, size: BlockSize) -> UniformityLevel:
    """Lanes are numbered along x first, then y, then z."""
    if size.along(component) == 1:
        return UniformityLevel.GRID
    row = size.x
    layer = size.x * size.y
    if component == ".y" and row and row % 32 == 0:
        return UniformityLevel.WARP
    if component == ".z" and layer and layer % 32 == 0:
        return UniformityLevel.WARP
    return UniformityLevel.DIVERGENT


@lru_cache(maxsize=4096)
def instruction_uniformity(spelling: str, operands: int) -> InstructionUniformity | None:
    """The uniformity of an instruction from its opcode text and number of operands.

    Returns None if the operands decide: loads of parameters and of generic addresses, shuffles and calls.
    """
    opcode, *modifiers = spelling.split(".")
    if opcode in _COMPUTING or (opcode[:1] == "v" and opcode[1:4] in _VIDEO):
        return _ADDRESSES.get(opcode, _DEFAULT)
    if opcode in ("ld", "ldu"):
        return _load(modifiers)
    if opcode in ("vote", "redux", "match", "elect", "bar", "barrier"):
        return _collective(opcode, modifiers, operands)
    if opcode in ("tex", "tld4", "suld"):
        return InstructionUniformity(UniformityLevel.WARP, "reads a texture or surface")
    if opcode in ("shfl", "call"):
        return None
    if opcode in _DIVERGENT or opcode == "tcgen05":
        return InstructionUniformity(
            UniformityLevel.DIVERGENT, _DIVERGENT.get(opcode, "gives each lane its part")
        )
    if opcode == "clusterlaunchcontrol" and "query_cancel" in modifiers:
        return _DEFAULT
    return InstructionUniformity(UniformityLevel.UNKNOWN, f"nothing is known of what `{opcode}` gives")


def _load(modifiers: list[str]) -> InstructionUniformity | None:
    if not _STRONG.isdisjoint(modifiers):
        return InstructionUniformity(UniformityLevel.UNKNOWN, "each thread may load another value")
    if "nc" in modifiers or "const" in modifiers:
        return _DEFAULT
    for modifier in modifiers:
        space = modifier.partition("::")[0]
        if space == "param":
            return None
        if space == "local":
            return InstructionUniformity(
                UniformityLevel.UNKNOWN, "loads what the thread has in its local memory"
            )
        if space in ("global", "shared"):
            return LOADED
    return None


def _collective(opcode: str, modifiers: list[str], operands: int) -> InstructionUniformity:
    together = "is the same for the threads of one warp that take part"
    if opcode == "match" and "any" in modifiers:
        return InstructionUniformity(UniformityLevel.DIVERGENT, "compares lanes with each other")
    if opcode == "elect":
        return InstructionUniformity(UniformityLevel.WARP, together, UniformityLevel.DIVERGENT, (1,))
    if opcode in ("bar", "barrier"):
        if operands == 3:
            return InstructionUniformity(
                UniformityLevel.BLOCK, "is the same for the threads of one block", None, (1,)
            )
        return InstructionUniformity(
            UniformityLevel.WARP, "is the same for the threads at one barrier", None, (1, 2)
        )
    return InstructionUniformity(UniformityLevel.WARP, together, None, (2,) if "sync" in modifiers else ())


_DEFAULT = InstructionUniformity(UniformityLevel.GRID)
LOADED = InstructionUniformity(UniformityLevel.WARP, "loads what other warps may load at another time")
"""The uniformity of a load from writable memory."""

_STRONG = frozenset({"volatile", "relaxed", "acquire", "mmio"})
_ADDRESSES = {
    "mapa": InstructionUniformity(UniformityLevel.BLOCK, "gives an address of the block"),
    "getctarank": InstructionUniformity(UniformityLevel.BLOCK, "gives the rank of a block"),
    "cvta": InstructionUniformity(UniformityLevel.BLOCK, "gives an address of the block"),
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
_DIVERGENT = {
    "atom": "gives each thread what it found",
    "mma": "gives each lane its part of a matrix",
    "wmma": "gives each lane its part of a matrix",
    "wgmma": "gives each lane its part of a matrix",
    "ldmatrix": "gives each lane its part of a matrix",
    "movmatrix": "gives each lane its part of a matrix",
}
