"""Products of matrices that a warp holds in registers: `mma`, `mma.sp` and `wmma.mma`; `movmatrix`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ptx_lsp.executor.arithmetic.exact import Mode
from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.program import Array, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.aligned import Aligned, Warps
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.matrices import elements, fragments, products, scaling, sparsity
from ptx_lsp.executor.matrices.fragments import Fragment, Words
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_MODES: tuple[Mode, ...] = (".rz", ".rm", ".rp")


@dataclass(frozen=True)
class Kind:
    """The operation: the types of D, A, B and C, the sides m, n and k, and the modifiers."""

    types: tuple[str, str, str, str]
    m: int
    n: int
    k: int
    modifiers: frozenset[str]
    packed: bool = False
    """Whether floats of 4 bits stand side by side."""


def kind_of(match: Match, types: Sequence[str]) -> Kind:
    """The kind from the modifiers of an instruction; `types` are those of D, A, B and C."""
    modifiers = match.candidate.choices.modifiers
    shape = next(found for word in modifiers if (found := _SHAPE.fullmatch(word)))
    m, n, k = (int(side) for side in shape.groups())
    packed = ".kind::mxf4" in modifiers or ".kind::mxf4nvf4" in modifiers
    d, a, b, c = types
    return Kind((d, a, b, c), m, n, k, modifiers, packed)


_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)")


def multiplied(kind: Kind, a: Words, b: Words, c: Words) -> Words:
    """The bits of a @ b + c, of matrices of bits."""
    d_type, a_type, b_type, c_type = kind.types
    if a_type == ".b1":
        operation = np.bitwise_xor if ".xor" in kind.modifiers else np.bitwise_and
        found = products.of_bits(a.astype(np.uint32), b.astype(np.uint32), _integers(c), operation)
        return found.astype(np.uint32)
    x = elements.decoder(a_type, packed=kind.packed)(a)
    y = elements.decoder(b_type, packed=kind.packed)(b)
    return sums(d_type, c_type, kind.modifiers, x, y, c)


def sums(
    d_type: str, c_type: str, modifiers: frozenset[str], a: Doubles, b: Doubles, c: Words
) -> Words:
    """The bits of a @ b + c, of matrices of numbers and one of bits."""
    if d_type == ".s32":
        found = products.of_integers(a, b, _integers(c), saturates=".satfinite" in modifiers)
        return found.astype(np.uint32)
    z = elements.decoder(c_type)(c)
    if d_type == ".f64":
        return elements.encoded(products.of_doubles(a, b, z, _mode(modifiers)))
    total = products.of_floats(a, b, z, np.dtype(np.float16 if d_type == ".f16" else np.float32))
    if ".satfinite" in modifiers:
        most = np.finfo(total.dtype).max
        total = np.clip(total, -most, most)
    return elements.encoded(total)


def _mode(modifiers: frozenset[str]) -> Mode:
    for mode in _MODES:
        if mode in modifiers:
            return mode
    return ".rn"


def _integers(bits: Words) -> products.Integers:
    return bits.astype(np.uint32).view(np.int32).astype(np.int64)


class Multiply(Aligned):
    """`mma` and related instructions: matrices in registers."""

    def __init__(
        self, kind: Kind, layouts: tuple[Fragment, Fragment, Fragment, Fragment], inputs: Inputs,
        destinations: tuple[int | None, ...],
    ) -> None:
        """`layouts` are those of D, A, B and C."""
        super().__init__()
        self._kind = kind
        self._layouts = layouts
        self._inputs = inputs
        self._destinations = destinations

    def execute(self, warps: Warps) -> None:
        d, a, b, c = self._layouts
        inputs = self._inputs.read(warps)
        left, right = a.matrices(inputs["a"]), b.matrices(inputs["b"])
        if "metadata" in inputs:
            selector = int(inputs["selector"][0].flat[0])
            type = self._kind.types[1] + (" packed" if self._kind.packed else "")
            left = sparsity.expanded(left, inputs["metadata"][0], selector, type)
        total = c.matrices(inputs["c"])
        if "scale-a" in inputs:
            found = self._scaled(left, right, total, inputs)
        else:
            found = multiplied(self._kind, left, right, total)
        for number, value in zip(self._destinations, d.registers(found), strict=True):
            warps.write(number, value)

    def _scaled(self, a: Words, b: Words, c: Words, inputs: dict[str, list[Words]]) -> Words:
        """With a factor for each block of a row of A and of a column of B."""
        kind = self._kind
        d_type, a_type, b_type, c_type = kind.types
        x = elements.decoder(a_type, packed=kind.packed)(a)
        y = elements.decoder(b_type, packed=kind.packed)(b)
        of_a, of_b = scaling.factors(kind.modifiers, inputs)
        x = x * np.repeat(of_a, kind.k // of_a.shape[-1], axis=-1)
        y = y * np.repeat(of_b, kind.k // of_b.shape[-2], axis=-2)
        return sums(d_type, c_type, kind.modifiers, x, y, c)


class Inputs:
    """The operands that are read, by name, each with its registers."""

    def __init__(self, program: Program, counts: dict[str, int]) -> None:
        self._program = program
        self._counts = counts

    def read(self, warps: Warps) -> dict[str, list[Words]]:
        """The registers of each operand, warps by lanes."""
        values = iter(self._program.run(warps.wave.registers))
        return {
            name: [_words(warps.of(next(values))) for _ in range(count)]
            for name, count in self._counts.items()
        }


def inputs_of(
    read: list[tuple[str, nodes.Expression, str]], operands: Operands
) -> Inputs:
    """The inputs from names, operands and their types; operands with the same name are concatenated."""
    program = sources([(operand, TYPES[type]) for _, operand, type in read], operands)
    counts: dict[str, int] = {}
    for name, operand, type in read:
        counts[name] = counts.get(name, 0) + len(operands.elements(operand, TYPES[type]))
    return Inputs(program, counts)


def _words(value: Array) -> Words:
    if value.dtype.itemsize == 8:
        return np.asarray(value, np.uint64)
    return np.asarray(value, np.uint32)


def matrix(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Aligned:
    """`mma`, `mma.sp`, `wmma.mma` or `movmatrix`."""
    if match.entry.opcode == "movmatrix":
        source = inputs_of([("a", node.operands[1], ".b32")], operands)
        return Transpose(source, operands.numbers(node.operands[0]))
    kind = kind_of(match, _types(node, match))
    layouts = _of_wmma(kind, node, operands) if match.entry.opcode == "wmma" else _of_mma(kind, match)
    read: list[tuple[str, nodes.Expression, str]] = []
    for operand, (place, _) in zip(node.operands[1:], match.places[1:], strict=True):
        parts = operand.items if isinstance(operand, nodes.Vector) and place.parts else (operand,)
        names = [part.name for part in place.parts] or [place.name]
        for name, part in zip(names, parts, strict=True):
            type = ".b64" if kind.types[0] == ".f64" else _NARROW.get(name.partition("-")[0], ".b32")
            read.append((_NAMES.get(name, name), part, type))
    return Multiply(kind, layouts, inputs_of(read, operands), operands.numbers(node.operands[0]))


_NARROW: dict[str, str] = dict.fromkeys(("byte", "pair", "four", "lane", "all"), ".b16")
_NAMES = {
    "lane": "selector", "pair": "selector", "all": "selector",
    **{f"{name}-{side}": f"byte-{side}" for name in ("pair", "four") for side in "ab"},
}


def _types(node: nodes.Instruction, match: Match) -> tuple[str, ...]:
    """The types of D, A, B and C, without those that ptxas ignores; if A and B have none both are `.f16`."""
    words = [f".{word}" for word in node.opcode.text.split(".")[1:]]
    found = [word for word in words if word in TYPES and word in match.candidate.choices.modifiers]
    if len(found) == 2:
        return (found[0], ".f16", ".f16", found[1])
    return tuple(found[:4])


def _of_mma(kind: Kind, match: Match) -> tuple[Fragment, Fragment, Fragment, Fragment]:
    d, a, b, c = (elements.width(type, packed=kind.packed and type == ".e2m1") for type in kind.types)
    if (kind.m, kind.n, kind.k) == (8, 8, 4) and a == 16:
        choices = match.candidate.choices
        return (
            fragments.quarter_sums(d), fragments.quarter_left(choices["alayout"] == ".row"),
            fragments.quarter_right(choices["blayout"] == ".row"), fragments.quarter_sums(c),
        )
    k = kind.k // 32 if kind.types[1] == ".b1" else kind.k
    sparse = "metadata" in [place.name for place, _ in match.places]
    return (
        fragments.sums(kind.m, kind.n, d), fragments.left(kind.m, k // 2 if sparse else k, a),
        fragments.right(k, b), fragments.sums(kind.m, kind.n, c),
    )


def _of_wmma(
    kind: Kind, node: nodes.Instruction, operands: Operands
) -> tuple[Fragment, Fragment, Fragment, Fragment]:
    sides = ((kind.m, kind.n), (kind.m, kind.k), (kind.k, kind.n), (kind.m, kind.n))
    found = [
        wmma_fragment(name, type, sides, len(operands.written(operand)))
        for name, type, sides, operand in zip("dabc", kind.types, sides, node.operands, strict=True)
    ]
    return cast("tuple[Fragment, Fragment, Fragment, Fragment]", tuple(found))


def wmma_fragment(name: str, type: str, sides: tuple[int, int], registers: int) -> Fragment:
    """Our own layout of a fragment of `wmma`: B by columns, the others by rows."""
    rows, columns = sides
    if type == ".b1":
        rows, columns = (rows // 32, columns) if name == "b" else (rows, columns // 32)
    return fragments.whole(rows, columns, elements.width(type), registers, by_rows=name != "b")


class Transpose(Aligned):
    """`movmatrix`."""

    def __init__(self, inputs: Inputs, destinations: tuple[int | None, ...]) -> None:
        super().__init__()
        self._inputs = inputs
        self._destinations = destinations

    def execute(self, warps: Warps) -> None:
        layout = fragments.left(8, 8, 16)
        found = layout.matrices(self._inputs.read(warps)["a"])
        for number, value in zip(self._destinations, layout.registers(found.swapaxes(2, 3)), strict=True):
            warps.write(number, value)
