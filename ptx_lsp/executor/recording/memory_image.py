"""The memory of a launch as data: its buffers at their addresses, textures, and the heap.

1. Arrays of the host that overlap, as where an argument is given twice, are one *block* of bytes, in which
   buffers are ranges. All others are blocks of their own.
2. Variables are named by their position among those of the module (`variables_of`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.data_segment import Resident, variables_of
from ptx_lsp.executor.machine.heap import Heap
from ptx_lsp.executor.machine.memory import Buffer, Bytes, Memory
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.executor.recording.fields import ADDRESSES, Fields, Json, RecordingError
from ptx_lsp.executor.recording.objects import arrays_of, object_json, object_of
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module


@dataclass(frozen=True)
class MemoryImage:
    """Memory before a launch: `blocks` have the bytes, `layout` says what they are."""

    blocks: tuple[bytes, ...]
    layout: Json


def image_of(launch: PreparedLaunch) -> MemoryImage:
    """The memory that a launch begins with."""
    memory, opaque = launch.memory, sorted(launch.opaque.items())
    images = [one for _, value in opaque for one in arrays_of(value)]
    blocks, places = _blocks([*(one.data for one in memory.buffers), *images])
    following = iter(places[len(memory.buffers) :])
    heap = memory.allocations
    layout: Json = {
        "blocks": len(blocks),
        "is_narrow": memory.is_narrow,
        "ends": memory.ends,
        "buffers": [
            {
                "name": one.name, "address": one.base, "size": one.data.size, "block": block,
                "offset": offset, "is_writable": bool(one.data.flags.writeable),
            }
            for one, (block, offset) in zip(memory.buffers, places, strict=False)
        ],
        "variables": [
            launch.image.addresses.get(id(one.declarator)) if one.space in _PLACED else None
            for one in variables_of(launch.module, launch.kernel)
        ],
        "replicas": memory.replicas,
        "workspace": launch.shape.workspace,
        "heap": None if heap is None else _heap_json(heap),
        "objects": [{"handle": handle, **object_json(one, following)} for handle, one in opaque],
    }
    return MemoryImage(tuple(blocks), layout)


_PLACED = (".global", ".const", ".tex")
"""The state spaces whose variables lie in buffers."""


def resident(image: MemoryImage, module: Module, kernel: Function) -> Resident:
    """Creates that memory for another run. Raises RecordingError if the layout is impossible."""
    fields = Fields(image.layout, "memory")
    blocks = [np.frombuffer(bytearray(one), np.uint8) for one in image.blocks]
    buffers = [_buffer(one, blocks) for one in fields.each("buffers")]
    _check_apart(buffers)
    heap = fields.optional_inner("heap")
    memory = Memory.of(
        buffers, fields.numbers("ends", (3,)), None if heap is None else _heap(heap, buffers),
        is_narrow=fields.flag("is_narrow"),
    )
    starts = {one.base for one in buffers}
    for rows in fields.values("replicas"):
        found = Fields({"replicas": rows}).numbers("replicas")
        if not found or not starts.issuperset(found):
            raise RecordingError("the recording is damaged: multimem memory is not in a buffer")
        memory.replicas.append(list(found))
    objects: dict[int, Opaque] = {
        one.number("handle"): object_of(one, lambda place: _range(place, blocks))
        for one in fields.each("objects")
    }
    return Resident(memory, _variables(fields, module, kernel), objects, fields.number("workspace"))


def _variables(fields: Fields, module: Module, kernel: Function) -> dict[int, int]:
    declared = variables_of(module, kernel)
    addresses = fields.values("variables")
    if len(addresses) != len(declared):
        raise RecordingError("the recording is damaged: its memory is not that of its PTX")
    return {
        id(one.declarator): Fields({"variables": address}).number("variables")
        for one, address in zip(declared, addresses, strict=True) if address is not None
    }


# -- blocks -------------------------------------------------------------------------------------


def _blocks(arrays: Sequence[Bytes]) -> tuple[list[bytes], list[tuple[int, int]]]:
    """The blocks of arrays; for each array the number of its block, and its offset there."""
    groups: list[list[int]] = []
    end = -1
    for number in sorted(range(len(arrays)), key=lambda one: arrays[one].ctypes.data):
        start = arrays[number].ctypes.data
        if start >= end or not arrays[number].size:
            groups.append([])
        groups[-1].append(number)
        end = max(end, start + arrays[number].size)
    blocks: list[bytes] = []
    places = [(0, 0)] * len(arrays)
    for group in sorted(groups):
        first = min(arrays[one].ctypes.data for one in group)
        size = max(arrays[one].ctypes.data + arrays[one].size for one in group) - first
        data = np.zeros(size, np.uint8)
        for one in group:
            offset = arrays[one].ctypes.data - first
            data[offset : offset + arrays[one].size] = arrays[one]
            places[one] = len(blocks), offset
        blocks.append(data.tobytes())
    return blocks, places


def _range(fields: Fields, blocks: Sequence[Bytes]) -> Bytes:
    """The bytes of a buffer or an array."""
    block, offset, size = fields.number("block"), fields.number("offset"), fields.number("size")
    if block >= len(blocks) or offset + size > blocks[block].size:
        raise RecordingError("the recording is damaged: a buffer is longer than its contents")
    return blocks[block][offset : offset + size]


def _buffer(fields: Fields, blocks: Sequence[Bytes]) -> Buffer:
    data = _range(fields, blocks)
    data.flags.writeable = fields.flag("is_writable")
    return Buffer(fields.text("name"), fields.number("address"), data)


def _check_apart(buffers: Sequence[Buffer]) -> None:
    for one, following in pairwise(buffers):
        if one.base + one.data.size > following.base or one.base == following.base:
            raise RecordingError("the recording is damaged: two buffers have the same address")
    if buffers and buffers[-1].base + buffers[-1].data.size > ADDRESSES:
        raise RecordingError("the recording is damaged: a buffer ends after the last address")


# -- the heap -----------------------------------------------------------------------------------


def _heap_json(heap: Heap) -> Json:
    size, used, live, freed = heap.state
    return {
        "address": heap.base, "size": size, "used": used, "allocated": [*live.items()],
        "freed": [*freed.items()],
    }


def _heap(fields: Fields, buffers: Iterable[Buffer]) -> Heap:
    base, size, used = fields.number("address"), fields.number("size"), fields.number("used")
    parts: list[dict[int, int]] = []
    for key in ("allocated", "freed"):
        pairs = [Fields({key: one}).numbers(key, (2,)) for one in fields.values(key)]
        if any(not base <= at or at + length > base + size for at, length in pairs):
            raise RecordingError("the recording is damaged: an allocation is outside the heap")
        parts.append({pair[0]: pair[1] for pair in pairs})
    if used > size or not any(one.base == base and one.data.size == size for one in buffers):
        raise RecordingError("the recording is damaged: the heap is not in a buffer")
    return Heap.of(base, size, used, *parts)

