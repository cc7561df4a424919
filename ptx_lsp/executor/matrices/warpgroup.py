"""Products of matrices by warpgroups: `wgmma.mma_async`.

Each of the four warps has 16 rows of A and D, so a warp can compute its rows by itself. It does so
immediately (`wgmma_groups.py`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import Program
from ptx_lsp.executor.descriptors.shared import CHUNK, warpgroup_text
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action, Described
from ptx_lsp.executor.machine.launch_config import WARP_SIZE
from ptx_lsp.executor.machine.memory import Addresses
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.matrices import elements, fragments, products, sparsity
from ptx_lsp.executor.matrices.fragments import Words
from ptx_lsp.executor.matrices.matrix import Inputs, Kind, inputs_of, kind_of, sums
from ptx_lsp.executor.matrices.matrix_memory import Memory
from ptx_lsp.executor.matrices.wgmma_groups import Commit, Fence, Groups, Wait, warp_numbers
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]

_SWIZZLES = np.array([0, 3, 2, 1])  # by the code in a descriptor: how many bits of the address change


class Shared:
    """A matrix in shared memory, as a descriptor has it (PTX ISA, "Shared Memory Matrix Layout")."""

    def __init__(self, spaces: Spaces, length: int, k: int, size: int, *, k_major: bool) -> None:
        """`length` is the side that is not k; `size` the bytes of an element."""
        self._spaces = spaces
        self._memory = Memory(spaces, ".shared", Program())
        self._length, self._k, self._size = length, k, size
        self._k_major = k_major

    def load(self, warps: Warps, descriptors: Words, first: Numbers) -> Words:
        """The elements (warps, length, k) from the row (or column) `first` of each warp on."""
        each = CHUNK // self._size
        if self._k_major:
            outer, inner = np.meshgrid(
                np.arange(self._length), np.arange(0, self._k, each), indexing="ij"
            )
        else:
            inner, outer = np.meshgrid(
                np.arange(self._k), np.arange(0, self._length, each), indexing="ij"
            )
        addresses = self._addresses(descriptors, first[:, None] + outer.reshape(1, -1), inner.reshape(1, -1))
        chunks = self._fetched(warps, addresses)
        self._tell(warps, addresses)
        found = np.ascontiguousarray(chunks).view(np.dtype(f"u{self._size}"))
        if self._k_major:
            return found.reshape(-1, self._length, self._k)
        return found.reshape(-1, self._k, self._length).swapaxes(1, 2)

    def _addresses(self, descriptors: Words, at: Numbers, k: Numbers) -> Numbers:
        """Of the chunk that begins at an element (warps by chunks)."""
        words = descriptors.astype(np.int64).reshape(-1, 1)
        start, leading, stride = ((words >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
        bits = _SWIZZLES[words >> 62 & 3]
        width = CHUNK << bits  # of a row of the pattern, in bytes
        size, each = self._size, CHUNK // self._size
        if self._k_major:
            plain = at % 8 * CHUNK + at // 8 * stride + k // each * leading
            offset = np.where(bits == 0, plain, at % 8 * width + at // 8 * stride + k * size)
        else:
            plain = at // each * stride + k % 8 * CHUNK + k // 8 * leading
            row = at * size
            turned = row % width + row // width * leading + k % 8 * width + k // 8 * stride
            offset = np.where(bits == 0, plain, turned)
        address = start + offset
        turn = (address >> 7) - (words >> 49 & 7) & (1 << bits) - 1
        return address ^ turn << 4

    def _tell(self, warps: Warps, addresses: Numbers) -> None:
        """Reports the chunks that each warp reads."""
        if self._spaces.observer is None:
            return
        wave = warps.wave
        blocks = warps.of(wave.block_rows)[:, :1].astype(np.int64)
        offsets = (blocks * wave.shared.shape[1] + addresses).reshape(-1)
        leaders = WARP_SIZE * warp_numbers(wave, warps.lanes)
        lanes = np.repeat(leaders, addresses.shape[1])
        data = wave.shared.reshape(-1)
        self._spaces.tell(wave, MemoryEvent("read", ".shared", None, data, CHUNK, lanes, offsets, "copy"))

    def _fetched(self, warps: Warps, addresses: Numbers) -> Words:
        """The chunks as pairs of 64 bits (warps, chunks, 2); each lane gets some of them."""
        count = addresses.shape[1]
        rounds = -(-count // 32)
        padded = np.concatenate([addresses, np.repeat(addresses[:, :1], 32 * rounds - count, axis=1)], axis=1)
        lanes = warps.wave.full_mask(warps.lanes)
        found: list[Words] = []
        for at in range(rounds):
            flat: Addresses = padded[:, 32 * at : 32 * at + 32].reshape(-1).astype(np.uint64)
            halves = self._memory.load(warps.wave, flat, lanes, 8, 2, use=None)
            both = np.stack([np.asarray(half, np.uint64) for half in halves], axis=-1)
            found.append(both.reshape(-1, 32, 2))
        return np.concatenate(found, axis=1)[:, :count]


class WarpgroupMultiply(Aligned, Described):
    """`wgmma.mma_async`, also `.sp`."""

    def __init__(
        self, spaces: Spaces, kind: Kind, inputs: Inputs, a: Shared | None, b: Shared,
        destinations: tuple[int | None, ...], *, sparse: bool,
    ) -> None:
        """`a` is None where A stands in registers."""
        super().__init__()
        self._spaces = spaces
        self._kind = kind
        self._inputs = inputs
        self._a, self._b = a, b
        self._destinations = destinations
        width = elements.width(kind.types[1])
        k = kind.k // (32 if kind.types[1] == ".b1" else 1) // (2 if sparse else 1)
        self._left = fragments.left(16, k, width)
        self._sums = fragments.sums(16, kind.n, elements.width(kind.types[0]))

    def execute(self, warps: Warps) -> None:
        inputs = self._inputs.read(warps)
        self._issue(warps)
        right = self._b.load(warps, inputs["b-desc"][0][:, 0], np.zeros(1, np.int64))
        if self._a is None:
            left = self._left.matrices(inputs["a"])
        else:
            warp = warps.of(warps.wave.threads)[:, 0].astype(np.int64) // 32 % 4
            left = self._a.load(warps, inputs["a-desc"][0][:, 0], 16 * warp)[:, None]
        if "metadata" in inputs:
            selector = int(inputs["selector"][0].flat[0])
            left = sparsity.expanded(left, inputs["metadata"][0], selector, self._kind.types[1])
        total = self._sums.matrices(inputs["d"])
        adds = np.asarray(inputs["scale-d"][0], np.bool_)[:, :1, None, None]
        found = self._product(left, right.swapaxes(1, 2)[:, None], np.where(adds, total, 0), inputs)
        for number, value in zip(self._destinations, self._sums.registers(found), strict=True):
            warps.write(number, value)

    def _issue(self, warps: Warps) -> None:
        wave, numbers = warps.wave, warp_numbers(warps.wave, warps.lanes)
        groups = Groups.of(wave)
        groups.issue(numbers)
        if self._spaces.observer is not None:
            for product in groups.observe(numbers):
                self._spaces.began(wave, product)

    def describe(self, wave: Wave, lane: int) -> str:
        chosen = np.zeros(wave.shape, np.bool_)
        chosen.reshape(-1, WARP_SIZE)[lane // WARP_SIZE] = True
        inputs = self._inputs.read(Warps(wave, chosen))
        sides = (("A", "a-desc"), ("B", "b-desc"))
        return "; ".join(
            f"{name}: {warpgroup_text(int(inputs[key][0].flat[0]))}" for name, key in sides if key in inputs
        )

    def _product(self, a: Words, b: Words, c: Words, inputs: dict[str, list[Words]]) -> Words:
        d_type, a_type, b_type, _ = self._kind.types
        if a_type == ".b1":
            before = c.astype(np.uint32).view(np.int32).astype(np.int64)
            words = (a.astype(np.uint32), b.astype(np.uint32))
            return products.of_bits(*words, before, np.bitwise_and).astype(np.uint32)
        x = elements.decoder(a_type)(a) * _sign(inputs, "negate-a")
        y = elements.decoder(b_type)(b) * _sign(inputs, "negate-b")
        return sums(d_type, d_type, self._kind.modifiers, x, y, c)


def _sign(inputs: dict[str, list[Words]], name: str) -> float:
    return -1.0 if name in inputs and inputs[name][0].flat[0] != 1 else 1.0


def warpgroup(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of a `wgmma` instruction."""
    match match.entry.name:
        case "wgmma.fence":
            return Fence()
        case "wgmma.commit_group":
            return Commit()
        case "wgmma.wait_group":
            return Wait(spaces, int(constant(node.operands[0]) or 0))
        case _:
            return _product(node, match, operands, spaces)


def _product(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> WarpgroupMultiply:
    words = [f".{word}" for word in node.opcode.text.split(".")[1:]]
    d_type, a_type, b_type = [word for word in words if word in TYPES][:3]
    kind = kind_of(match, (d_type, a_type, b_type, d_type))
    sparse = match.entry.name.endswith(".sp")
    read: list[tuple[str, nodes.Expression, str]] = []
    turned: dict[str, bool] = {}
    for operand, (place, _) in zip(node.operands, match.places, strict=True):
        name = place.name
        if name.startswith("transpose"):
            turned[name] = operands.source(operand, TYPES[".u32"]).value == 1
        else:
            type = ".pred" if name == "scale-d" else ".u64" if name.endswith("desc") else ".b32"
            read.append(("selector" if name in ("pair", "all") else name, operand, type))
    width = elements.width(a_type) // 8
    k = kind.k // 32 if a_type == ".b1" else kind.k
    a = None
    if any(name == "a-desc" for name, _, _ in read):
        k_major = not turned.get("transpose-a", False)
        a = Shared(spaces, 16, k // 2 if sparse else k, width, k_major=k_major)
    b = Shared(spaces, kind.n, k, width, k_major=not turned.get("transpose-b", False))
    destinations = operands.numbers(node.operands[0])
    return WarpgroupMultiply(spaces, kind, inputs_of(read, operands), a, b, destinations, sparse=sparse)
