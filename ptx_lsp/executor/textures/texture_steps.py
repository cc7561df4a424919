"""The texture instructions: `tex`, `tld4`, `txq`, `istypep`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import Array, Bools, Program
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import Indices, Threads, by_name, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.texture import Sampler, Surface, Texture, sampler_property
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.textures.handles import TYPES as KINDS
from ptx_lsp.executor.textures.handles import handle, objects
from ptx_lsp.executor.textures.sampling import Reader, Texels, on_cube
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_Registers = tuple[int | None, ...]


class Fetch:
    """`tex` and `tld4`"""

    def __init__(
        self, spaces: Spaces, choices: Choices, name: str, texture: Program, sampler: Program | None,
        values: dict[str, Program], destinations: _Registers, resident: int | None,
    ) -> None:
        """`values` computes coordinates, offsets, a depth, a level and derivatives, by their names."""
        self._spaces = spaces
        self._choices = choices
        self._name = name
        self._texture, self._sampler = texture, sampler
        self._values = values
        self._destinations = destinations
        self._resident = resident
        self._geometry = choices["geom"].lstrip(".")
        self._of_integers = name != "tld4" and choices["ctype"] == ".s32"

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        given = {name: row.compute(program) for name, program in self._values.items()}
        result = np.zeros((row.count, 4), np.uint32)
        handles = row.compute(self._texture)[0].astype(np.int64)
        for texture, positions in objects(self._spaces, row, handles, Texture):
            if texture.levels[0].geometry != self._geometry:
                raise row.error(
                    f"the texture is `.{texture.levels[0].geometry}`, not `.{self._geometry}`", "launch"
                )
            if self._sampler is None:
                samplers = iter([(texture.sampler, np.arange(positions.size))])
            else:
                of_samplers = row.compute(self._sampler)[0].astype(np.int64)[positions]
                some = np.zeros(row.count, np.bool_)
                some[positions] = True
                samplers = objects(self._spaces, row.subset(some), of_samplers, Sampler)
            for sampler, inner in samplers:
                here = positions[inner]
                reader = Reader(texture, sampler, of_integers=self._of_integers)
                part = {name: [one[here] for one in values] for name, values in given.items()}
                result[here] = self._bits(self._read(texture, reader, part))
        self._write(row, result)

    def _read(self, texture: Texture, reader: Reader, given: dict[str, list[Array]]) -> Texels:
        values = _filled(given["c"])
        layer, at = self._coordinates(texture, values)
        offsets = [one.view(np.int32) for one in _filled(given.get("offset", []))]
        depth = given["depth"][0].view(np.float32) if "depth" in given else None
        if self._name == "tld4":
            channel = (".r", ".g", ".b", ".a").index(self._choices["comp"])
            return reader.gather(layer, at, offsets, depth, channel)
        lod = np.zeros(layer.shape, np.float64)
        if "lod" in given:
            kind = np.int32 if self._of_integers else np.float32
            lod = given["lod"][0].view(kind).astype(np.float64)
        elif "dPdx" in given:
            dx, dy = ([one.view(np.float32) for one in _filled(given[name])] for name in ("dPdx", "dPdy"))
            lod = reader.detail(dx, dy) - self._along(values)
        return reader.read(layer, at, offsets, depth, lod)

    def _coordinates(self, texture: Texture, values: list[Array]) -> tuple[Indices, list[Array]]:
        """The layer of the array, and the coordinates in it."""
        kind = np.int32 if self._of_integers else np.float32
        numbers = [one.view(np.uint32).astype(np.int64) for one in values[:2]]
        none = np.zeros(values[0].shape, np.int64)
        outer = texture.levels[0].outer
        match self._geometry:
            case "1d" | "2d" | "3d":
                return none, [one.view(kind) for one in values]
            case "a1d" | "a2d" | "2dms":
                return numbers[0], [one.view(kind) for one in values[1:]]
            case "a2dms":  # the sample, then the layer
                layer = np.clip(numbers[1], 0, outer[0] - 1)
                sample = np.clip(numbers[0], 0, outer[1] - 1)
                return layer * outer[1] + sample, [one.view(kind) for one in values[2:]]
            case "cube":
                face, s, t, _ = on_cube(*(one.view(np.float32) for one in values[:3]))
                return face, self._on_face(texture, s, t)
            case _:
                face, s, t, _ = on_cube(*(one.view(np.float32) for one in values[1:4]))
                cube = np.clip(numbers[0], 0, outer[0] - 1)
                return cube * 6 + face, self._on_face(texture, s, t)

    def _on_face(self, texture: Texture, s: Array, t: Array) -> list[Array]:
        size = 1 if texture.normalized else texture.levels[0].sizes[0]
        return [np.multiply(s, size), np.multiply(t, size)]

    def _along(self, values: list[Array]) -> npt.NDArray[np.float64]:
        """How many levels finer a direction of a cube map is than its derivatives say."""
        if "cube" not in self._geometry:
            return np.zeros(values[0].shape, np.float64)
        first = 0 if self._geometry == "cube" else 1
        length = on_cube(*(one.view(np.float32) for one in values[first : first + 3]))[3]
        return np.log2(2 * np.where(length == 0, 1, length))

    def _bits(self, texels: Texels) -> npt.NDArray[np.uint32]:
        """The texels as registers hold them."""
        if texels.dtype.kind != "f":
            return texels.astype(np.uint32)
        if self._choices["dtype"] in (".u32", ".s32"):
            return texels.astype(np.float32).view(np.uint32)
        if self._choices["dtype"] == ".f16":
            return texels.astype(np.float16).view(np.uint16).astype(np.uint32)
        if "dtype" not in self._choices or self._choices["dtype"] == "":  # .f16x2
            halves = texels.astype(np.float16).view(np.uint16).astype(np.uint32)
            pairs = halves[:, 0::2] | halves[:, 1::2] << np.uint32(16)
            return np.concatenate([pairs, np.zeros_like(pairs)], axis=1)
        return texels.astype(np.float32).view(np.uint32)

    def _write(self, row: Threads, result: npt.NDArray[np.uint32]) -> None:
        for at, number in enumerate(self._destinations):
            if number is not None:
                row.write(number, result[:, at])
        if self._resident is not None:
            row.write(self._resident, np.ones(row.count, np.bool_))


class Query:
    """`txq` and `suq`"""

    def __init__(
        self, spaces: Spaces, query: str, kind: type[Texture] | type[Surface], object: Program,
        level: Program | None, destination: int | None,
    ) -> None:
        self._spaces = spaces
        self._query = query
        self._kind = kind
        self._object, self._level = object, level
        self._destination = destination

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if self._destination is None:
            return
        levels = np.zeros(row.count, np.int64)
        if self._level is not None:
            levels = row.compute(self._level)[0].astype(np.int64)
        handles = row.compute(self._object)[0].astype(np.int64)
        result = np.zeros(row.count, np.uint32)
        of_sampler = self._query.startswith((".filter", ".addr", ".force"))
        if of_sampler and all(isinstance(self._spaces.opaque.get(one), Sampler) for one in handles.tolist()):
            for sampler, here in objects(self._spaces, row, handles, Sampler):
                result[here] = sampler_property(sampler, self._query)
        elif self._kind is Surface:
            for surface, here in objects(self._spaces, row, handles, Surface):
                result[here] = surface.property(self._query)
        else:
            for texture, here in objects(self._spaces, row, handles, Texture):
                for level in np.unique(levels[here]).tolist():
                    some = here[levels[here] == level]
                    result[some] = (
                        sampler_property(texture.sampler, self._query) if of_sampler
                        else texture.property(self._query, level)
                    )
        row.write(self._destination, result)


class IsType:
    """`istypep`"""

    def __init__(self, spaces: Spaces, type: str, address: Program, destination: int | None) -> None:
        self._spaces = spaces
        self._kind = KINDS[type]
        self._address = address
        self._destination = destination

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        handles = row.compute(self._address)[0].astype(np.int64).tolist()
        found = [isinstance(self._spaces.opaque.get(one), self._kind) for one in handles]
        if self._destination is not None:
            row.write(self._destination, np.array(found, np.bool_))


def texture(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of a texture instruction, or of `suq`."""
    choices, opcode = match.candidate.choices, match.entry.opcode
    given = by_name(node, match)
    if opcode == "istypep":
        address = sources([(given["a"], TYPES[".u64"])], operands)
        return IsType(spaces, choices["type"], address, operands.number(given["p"]))
    named = given.get("a") or given["sampler"]
    if isinstance(named, nodes.Address):
        named = named.items[0]
    if opcode in ("txq", "suq"):
        query = next(one for one in choices.modifiers if one not in (".b32", ".level"))
        level = sources([(_items(given["lod"])[0], TYPES[".u32"])], operands) if "lod" in given else None
        kind = Surface if opcode == "suq" else Texture
        return Query(spaces, query, kind, handle(named, operands), level, operands.number(given["d"]))
    first = given["d"]
    resident: int | None = None
    if isinstance(first, nodes.Pair):
        first, resident = first.left, operands.number(first.right)
    destinations = tuple(operands.number(one) for one in _items(first))
    types = {"c": _coordinate_types(choices), "offset": [".s32"] * 4, "depth": [".f32"],
             "lod": [".s32" if choices["ctype"] == ".s32" else ".f32"], "dPdx": [".f32"] * 4,
             "dPdy": [".f32"] * 4}
    values = {
        name: _values(_items(given[name]), one, operands) for name, one in types.items() if name in given
    }
    return Fetch(
        spaces, choices, opcode, handle(named, operands),
        handle(given["b"], operands) if "b" in given else None, values, destinations, resident,
    )


def _values(
    items: Sequence[nodes.Expression], types: list[str], operands: Operands
) -> Program:
    return sources([(item, TYPES[type]) for item, type in zip(items, types, strict=False)], operands)


def _coordinate_types(choices: Choices) -> list[str]:
    """The types of the coordinates; layers and samples come before them."""
    kind = ".s32" if choices["ctype"] == ".s32" else ".f32"
    first = {".a1d": 1, ".a2d": 1, ".acube": 1, ".2dms": 1, ".a2dms": 2}.get(choices["geom"], 0)
    return [".u32"] * first + [kind] * (4 - first)


def _filled(values: list[Array]) -> list[Array]:
    """Four elements: ptxas takes fewer where a vector is expected, and those are 0."""
    return [*values, *[np.zeros_like(values[0])] * (4 - len(values))] if values else []


def _items(operand: nodes.Expression) -> tuple[nodes.Expression, ...]:
    return operand.items if isinstance(operand, nodes.Vector) else (operand,)
