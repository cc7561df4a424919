"""The surface instructions: `suld`, `sust` and `sured`."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, Program
from ptx_lsp.executor.asynchronous.async_reduction import apply_sequentially, reduction
from ptx_lsp.executor.instructions.access import sources
from ptx_lsp.executor.instructions.threads import Indices, Threads, by_name, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.texture import SPATIAL, Image, Surface
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.textures.handles import handle, objects
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.schema.selector import Choices
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes


class SurfaceAccess(ABC):
    """An access of `count` elements that lie side by side, of `width` bytes each."""

    def __init__(
        self, spaces: Spaces, choices: Choices, surface: Program, coordinates: Program, width: int,
        count: int,
    ) -> None:
        self._spaces = spaces
        self._choices = choices
        self._surface, self._coordinates = surface, coordinates
        self._element = UNSIGNED[8 * width]
        self._count = count
        self._formatted = ".p" in choices.modifiers

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        at = [one.astype(np.int64) for one in row.compute(self._coordinates)]
        at += [np.zeros_like(at[0])] * (3 - len(at))  # ptxas takes fewer than the geometry has
        at = [(one & 0xFFFFFFFF ^ 1 << 31) - (1 << 31) for one in at]
        handles = row.compute(self._surface)[0].astype(np.int64)
        for surface, here in objects(self._spaces, row, handles, Surface):
            some = np.zeros(row.count, np.bool_)
            some[here] = True
            self._access(row.subset(some), surface.image, [one[here] for one in at])

    def _access(self, row: Threads, image: Image, at: list[Indices]) -> None:
        geometry = self._choices["geom"].lstrip(".")
        if image.geometry != geometry:
            raise row.error(f"the surface is `.{image.geometry}`, not `.{geometry}`", "launch")
        offsets, inside = self._offsets(row, image, at, self._size(image))
        self._do(row, image, offsets, inside)

    def _size(self, image: Image) -> int:
        """The bytes of an access."""
        return self._element.itemsize * self._count

    def _offsets(
        self, row: Threads, image: Image, at: list[Indices], size: int
    ) -> tuple[Indices, Bools]:
        """The first byte of each thread, and which are not left out by `.zero`."""
        data = image.data
        pixel = data.shape[-1] * data.dtype.itemsize
        bytes_wide = image.sizes[0] * pixel
        layered = self._choices["geom"].startswith(".a")
        x, *others = at[1:] if layered else at
        if self._formatted:
            x = x * (self._element.itemsize if self._choices["op"] else pixel)
        elif bool((x % size != 0).any()):
            raise row.error(
                f"the access of {size} bytes is misaligned", "misaligned", x % size != 0
            )
        y, z = (others[n] if n < len(image.sizes) - 1 else np.zeros_like(x) for n in range(2))
        layer = at[0] if layered else np.zeros_like(x)
        height, depth = (image.sizes[n] if n < len(image.sizes) else 1 for n in (1, 2))
        limits = ((x, bytes_wide - size), (y, height - 1), (z, depth - 1), (layer, data.shape[0] - 1))
        inside = np.ones(x.shape, np.bool_)
        for one, last in limits:
            inside &= (one >= 0) & (one <= last)
        if ".trap" in self._choices.modifiers and not inside.all():
            raise row.error("the coordinates are outside the surface", "out-of-bounds", ~inside)
        x, y, z, layer = (np.clip(one, 0, max(last, 0)) for one, last in limits)
        offsets = ((layer * depth + z) * height + y) * bytes_wide + x
        kept = inside if ".zero" in self._choices.modifiers else np.ones_like(inside)
        return offsets, kept

    @abstractmethod
    def _do(self, row: Threads, image: Image, offsets: Indices, inside: Bools) -> None:
        """Accesses the bytes from `offsets` on, where `inside` holds."""

    def _memory(self, image: Image) -> Array:
        raw = image.data.reshape(-1).view(np.uint8)
        return raw[: raw.size // self._element.itemsize * self._element.itemsize].view(self._element)


class SurfaceLoad(SurfaceAccess):
    """`suld`"""

    destinations: tuple[int | None, ...] = ()

    def _do(self, row: Threads, image: Image, offsets: Indices, inside: Bools) -> None:
        memory = self._memory(image)
        for at, number in enumerate(self.destinations):
            if number is not None:
                values = memory[np.where(inside, offsets, 0) // self._element.itemsize + at * inside]
                row.write(number, np.where(inside, values, self._element.type(0)))


class SurfaceStore(SurfaceAccess):
    """`sust`"""

    values = Program()

    def _size(self, image: Image) -> int:
        if self._formatted:
            return image.data.shape[-1] * image.data.dtype.itemsize
        return super()._size(image)

    def _do(self, row: Threads, image: Image, offsets: Indices, inside: Bools) -> None:
        values = row.compute(self.values)
        if self._formatted:
            self._store_formatted(image, offsets[inside], [one[inside] for one in values])
            return
        memory = self._memory(image)
        for at, value in enumerate(values):
            index = offsets[inside] // self._element.itemsize + at
            memory[index] = value[inside].astype(self._element)

    def _store_formatted(self, image: Image, offsets: Indices, values: list[Array]) -> None:
        """Components go to the channels there are, converted to their type."""
        data = image.data.reshape(-1)
        first = offsets // data.dtype.itemsize
        for at, value in enumerate(values[: image.data.shape[-1]]):
            data[first + at] = _converted(image, value)


class SurfaceReduction(SurfaceAccess):
    """`sured`"""

    values = Program()

    def _do(self, row: Threads, image: Image, offsets: Indices, inside: Bools) -> None:
        name = form_type(self._choices)
        if self._formatted:
            sign = "s" if image.data.dtype.kind == "i" else "u"
            name = f".{sign}{8 * self._element.itemsize}"
        combine = reduction(self._choices["op"], TYPES[name])
        value = row.compute(self.values)[0].astype(self._element)
        index = offsets[inside] // self._element.itemsize
        apply_sequentially(self._memory(image), index, value[inside], combine)


def surface(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of `suld`, `sust` or `sured`."""
    choices, opcode = match.candidate.choices, match.entry.opcode
    given = by_name(node, match)
    address = node.operands[1 if opcode == "suld" else 0]
    assert isinstance(address, nodes.Address)
    named = handle(address.items[0], operands)
    geometry = choices["geom"].lstrip(".")
    count = SPATIAL[geometry] + geometry.startswith("a")
    coordinates = sources(
        [(one, TYPES[".b32"]) for one in _items(given["b"])[:count]], operands
    )
    type = TYPES[form_type(choices)]
    width = type.bytes
    if opcode == "sured":
        reduction = SurfaceReduction(spaces, choices, named, coordinates, width, 1)
        reduction.values = sources([(given["c"], type)], operands)
        return reduction
    items = _items(given["d" if opcode == "suld" else "c"])
    length = int(choices["vec"][2:] or 1)
    if opcode == "suld":
        load = SurfaceLoad(spaces, choices, named, coordinates, width, length)
        load.destinations = tuple(operands.number(one) for one in items[:length])
        return load
    store = SurfaceStore(spaces, choices, named, coordinates, width, length)
    store.values = sources([(one, type) for one in items[:length]], operands)
    return store


def _converted(image: Image, value: Array) -> npt.NDArray[np.generic]:
    """Words as a channel of the image holds them."""
    dtype = image.data.dtype
    if dtype.kind == "f":
        return value.view(np.float32).astype(dtype)
    bounds = np.iinfo(dtype.str)
    if image.as_floats:
        low = -1.0 if dtype.kind == "i" else 0.0
        number = np.clip(np.nan_to_num(value.view(np.float32).astype(np.float64)), low, 1.0)
        return np.rint(number * bounds.max).astype(dtype)
    whole = value.view(np.int32 if dtype.kind == "i" else np.uint32).astype(np.int64)
    return np.clip(whole, bounds.min, bounds.max).astype(dtype)


def _items(operand: nodes.Expression) -> tuple[nodes.Expression, ...]:
    return operand.items if isinstance(operand, nodes.Vector) else (operand,)
