"""The argument of native code: one array of 64-bit words, some of them pointers."""

from __future__ import annotations

from collections.abc import Mapping

from ptx_lsp.executor.arithmetic.program import BOOL, DType
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.native.ir import Code, Value

FIELDS = (
    "first_block", "last_block", "warps", "lanes", "inputs", "outputs", "positions", "shared",
    "shared_stride", "shared_limit", "local", "local_stride", "local_limit", "parameters",
    "parameter_limit", "buffers", "buffer_count", "sites", "fuel", "executed", "lane_count", "depth",
    "levels", "onward", "stacks", "calls", "start", "threads", "alive",
    "done", "shadow", "first_thread", "suspect",
)
"""The blocks of a wave that are to run; warps and lanes of a block; tables of registers, see `FILE`; the
position of each lane; memory; the instructions that may be executed, and after that those which were; the
arrays of calls (`calls`); the point at which all `threads` of each block begin (`NOWHERE`: that is among the
positions), and afterwards how many blocks have threads that have not exited, and the
first block that was left out because there were no instructions left to execute. For checks (`tracking`):
the cells of the shared memory of a block, the number of the first thread in the launch, and afterwards
whether the run is suspect.
"""
WORD = 8
FILE = 3
"""Words for each register among the inputs: a pointer, and how many bytes lie between blocks and between
lanes. Among the outputs there is only a pointer.
"""
BUFFER = 5
"""Words for each buffer: its address, its bytes, the pointer to them, whether it may be written, and the
pointer to its cells (`tracking`), 0 for none.
"""
SITE = 4
"""Words for each access to global memory, to remember the last buffer: its address, how many offsets an
access in it may have (0: there is no last buffer), and the pointers to it and to its cells.
"""
REGISTER_ALIGNMENT = 256
"""Of the memory for registers, in bytes: that of the largest vector."""
NOWHERE = -3
GONE = -1
"""The position of a lane that has exited, or does not exist. Positions are kept plus 1, so that it is 0."""
ELSEWHERE = -2
"""The position of a lane that goes on without native code."""


def register_places(numbers: set[int], dtypes: Mapping[int, DType]) -> tuple[dict[int, int], int]:
    """Where the registers of a warp are, the largest first, and how many bytes they take."""
    places: dict[int, int] = {}
    size = 0
    for number in sorted(numbers, key=lambda one: (dtypes[one] == BOOL, -dtypes[one].itemsize, one)):
        places[number] = size
        size += WARP_SIZE // 8 if dtypes[number] == BOOL else WARP_SIZE * dtypes[number].itemsize
    return places, -(-size // REGISTER_ALIGNMENT) * REGISTER_ALIGNMENT


class Fields:
    """The words as values of a function."""

    def __init__(self, code: Code, given: Value) -> None:
        self._code = code
        self._given = given
        self._values: dict[str, Value] = {}
        for name in FIELDS:
            type = "ptr" if name in _POINTERS else "i64"
            self._values[name] = code.load(type, self.place(name), WORD)

    def place(self, name: str) -> Value:
        return self._code.offset(self._given, WORD * FIELDS.index(name))

    def __getitem__(self, name: str) -> Value:
        return self._values[name]


_POINTERS = frozenset({
    "inputs", "outputs", "positions", "shared", "local", "parameters", "buffers", "sites", "depth", "onward",
    "stacks", "calls", "shadow",
})
