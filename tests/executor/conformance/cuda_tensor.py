"""Tensor maps as the CUDA driver makes them (CUDA Driver API, "Tensor Map Object Management")."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.tensor_map import TensorMap
from ptx_lsp.executor.machine.tensor_map_fields import ELEMENTS, FIELDS, SIZE

_NUMBERS = {
    name: number for number, name in enumerate((
        ".u8", ".u16", ".u32", ".s32", ".u64", ".s64", ".f16", ".f32", ".f64", ".bf16", ".f32.ftz", ".tf32",
        ".tf32.ftz", ".b4x16", ".b4x16_p64", ".b6x16_p32",
    ))
}
"""CUtensorMapDataType; PTX numbers them otherwise."""
_SWIZZLES = {(0, 0): 0, (1, 0): 1, (2, 0): 2, (3, 0): 3, (3, 1): 4, (3, 2): 5, (3, 3): 6}
"""CUtensorMapSwizzle, by the mode and the atomicity of `tensormap.replace`."""
_ALIGNMENT = 64


class Encoded:
    """The 128 bytes of a tensor map, where the driver and a launch want them."""

    def __init__(self) -> None:
        self._memory = np.zeros(SIZE + _ALIGNMENT, np.uint8)
        self.address = -(-self._memory.ctypes.data // _ALIGNMENT) * _ALIGNMENT


def encoded(map: TensorMap, address: int, call: Callable[..., None]) -> Encoded:
    """The tensor map of an array that lies at an address of the GPU. `call` calls a function of the driver,
    and raises what is to be raised where that fails; KeyError for swizzling that the driver does not know.
    """
    fields = np.frombuffer(map.fields.tobytes(), FIELDS)[0]
    rank = int(fields["rank"]) + 1
    kind = _NUMBERS[ELEMENTS[int(fields["elemtype"])]]
    found = Encoded()
    tensor = (
        ctypes.c_void_p(found.address), ctypes.c_int(kind), ctypes.c_uint(rank), ctypes.c_void_p(address),
        _array(ctypes.c_uint64, fields["global_dim"][:rank]),
        _array(ctypes.c_uint64, fields["global_stride"][: rank - 1]),
    )
    steps = _array(ctypes.c_uint32, fields["element_stride"][:rank])
    swizzle = _SWIZZLES[int(fields["swizzle_mode"]), int(fields["swizzle_atomicity"])]
    rest = (
        ctypes.c_int(int(fields["interleave_layout"])), ctypes.c_int(swizzle), ctypes.c_int(0),
        ctypes.c_int(int(fields["fill_mode"])),
    )
    if fields["load_mode"] > 1:
        corners = [ctypes.c_int(int(fields[name][0])) for name in ("lower", "upper")]
        counts = [ctypes.c_uint32(int(fields[name])) for name in ("channels", "pixels")]
        mode = ctypes.c_int(int(fields["load_mode"]) - 2)
        call("cuTensorMapEncodeIm2colWide", *tensor, *corners, *counts, steps, rest[0], mode, *rest[1:])
    elif fields["load_mode"]:
        corners = [_array(ctypes.c_int, fields[name][: rank - 2]) for name in ("lower", "upper")]
        sizes = [ctypes.c_uint32(int(fields[name])) for name in ("channels", "pixels")]
        call("cuTensorMapEncodeIm2col", *tensor, *corners, *sizes, steps, *rest)
    else:
        box = _array(ctypes.c_uint32, fields["box_dim"][:rank])
        call("cuTensorMapEncodeTiled", *tensor, box, steps, *rest)
    return found


def _array(
    kind: type[ctypes.c_int] | type[ctypes.c_uint32] | type[ctypes.c_uint64], values: npt.NDArray[np.generic]
) -> ctypes.Array[ctypes.c_int] | ctypes.Array[ctypes.c_uint32] | ctypes.Array[ctypes.c_uint64]:
    numbers = [int(one) for one in values.tolist()]
    return (kind * len(numbers))(*numbers)
