"""Textures and surfaces on a GPU: the variables of a module, bound to arrays of the driver (CUDA Driver API,
"Memory Management", "Texture Reference Management", "Surface Reference Management").
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ptx_lsp.executor.machine.texture import (
    SPATIAL,
    Address,
    Image,
    Opaque,
    Sampler,
    Surface,
    Texture,
)

_LAYERED, _STORES, _CUBE, _GATHER = 1, 2, 4, 8  # CUDA_ARRAY3D_LAYERED and so on
_INTEGERS, _NORMALIZED = 1, 2  # CU_TRSF_READ_AS_INTEGER, CU_TRSF_NORMALIZED_COORDINATES
_OVERRIDE = 1  # CU_TRSA_OVERRIDE_FORMAT
_HOST, _ARRAY = 1, 3  # CU_MEMORYTYPE_HOST and so on
_FORMATS = {"u1": 1, "u2": 2, "u4": 3, "i1": 8, "i2": 9, "i4": 10, "f2": 16, "f4": 32}  # CU_AD_FORMAT_...
_ADDRESSES: dict[Address, int] = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}  # CU_TR_ADDRESS_MODE_...
_FILTERS = ("point", "linear")  # CU_TR_FILTER_MODE_...
Call = Callable[..., None]


class UnbindableError(Exception):
    """The driver has nothing of the kind."""


class _Description(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR"""

    _fields_ = (
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
        ("format", ctypes.c_uint), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint),
    )


class _End(ctypes.Structure):
    """One end of CUDA_MEMCPY3D."""

    _fields_ = (
        ("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t), ("level", ctypes.c_size_t),
        ("kind", ctypes.c_uint), ("host", ctypes.c_void_p), ("device", ctypes.c_uint64),
        ("array", ctypes.c_void_p), ("reserved", ctypes.c_void_p), ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    )


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D"""

    _fields_ = (
        ("source", _End), ("target", _End), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    )


class Images:
    """What is bound to the variables of a module. `call` calls a function of the driver, and raises what is
    to be raised where that fails.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self._made: list[tuple[str, ctypes.c_void_p]] = []
        """What is to be called at the end, and with what."""
        self._surfaces: list[tuple[ctypes.c_void_p, Image]] = []

    def bind(self, module: ctypes.c_void_p, objects: Mapping[str, Opaque]) -> None:
        """Binds variables by their names; UnbindableError for an object that the driver cannot have."""
        for name, one in objects.items():
            match one:
                case Texture():
                    self._bind_texture(module, name, one)
                case Surface():
                    self._bind_surface(module, name, one)
                case Sampler():
                    raise UnbindableError("the driver has no samplers of their own")

    def collect(self) -> None:
        """Fills the arrays of surfaces with what kernels left in them."""
        for array, image in self._surfaces:
            self._copy(array, image, to_device=False)

    def destroy(self) -> None:
        """Gives all arrays back."""
        for name, one in self._made:
            self._call(name, one)
        self._made.clear()

    def _bind_texture(self, module: ctypes.c_void_p, name: str, texture: Texture) -> None:
        sampler, base = texture.sampler, texture.levels[0]
        reference = ctypes.c_void_p()
        self._call("cuModuleGetTexRef", ctypes.byref(reference), module, ctypes.c_char_p(name.encode()))
        if texture.is_mipmap:
            made = self._levels(texture.levels)
            self._call("cuTexRefSetMipmappedArray", reference, made, ctypes.c_uint(_OVERRIDE))
            self._call("cuTexRefSetMipmapFilterMode", reference, _number(_FILTERS.index(sampler.mip_filter)))
            last = ctypes.c_float(len(texture.levels) - 1)
            self._call("cuTexRefSetMipmapLevelClamp", reference, ctypes.c_float(0), last)
        else:
            made = self._array(base, _GATHER if base.geometry == "2d" else 0)
            self._call("cuTexRefSetArray", reference, made, ctypes.c_uint(_OVERRIDE))
        for axis in range(3):
            mode = sampler.mode(axis)
            if mode not in _ADDRESSES:
                raise UnbindableError(f"the driver has no address mode `{mode}`")
            self._call("cuTexRefSetAddressMode", reference, _number(axis), _number(_ADDRESSES[mode]))
        self._call("cuTexRefSetFilterMode", reference, _number(_FILTERS.index(sampler.filter)))
        border = (ctypes.c_float * 4)(*sampler.border)
        self._call("cuTexRefSetBorderColor", reference, border)
        integers = _INTEGERS if base.data.dtype.kind in "iu" and not base.as_floats else 0
        flags = integers | (_NORMALIZED if texture.normalized else 0)
        self._call("cuTexRefSetFlags", reference, ctypes.c_uint(flags))

    def _bind_surface(self, module: ctypes.c_void_p, name: str, surface: Surface) -> None:
        reference = ctypes.c_void_p()
        self._call("cuModuleGetSurfRef", ctypes.byref(reference), module, ctypes.c_char_p(name.encode()))
        array = self._array(surface.image, _STORES)
        self._surfaces.append((array, surface.image))
        self._call("cuSurfRefSetArray", reference, array, ctypes.c_uint(0))

    def _array(self, image: Image, flags: int) -> ctypes.c_void_p:
        """A new array that holds what the image does."""
        array = ctypes.c_void_p()
        self._call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(_described(image, flags)))
        self._made.append(("cuArrayDestroy", array))
        self._copy(array, image, to_device=True)
        return array

    def _levels(self, levels: Sequence[Image]) -> ctypes.c_void_p:
        """A new mipmapped array that holds what the images do."""
        made = ctypes.c_void_p()
        described = ctypes.byref(_described(levels[0], 0))
        self._call("cuMipmappedArrayCreate", ctypes.byref(made), described, ctypes.c_uint(len(levels)))
        self._made.append(("cuMipmappedArrayDestroy", made))
        for number, image in enumerate(levels):
            level = ctypes.c_void_p()
            self._call("cuMipmappedArrayGetLevel", ctypes.byref(level), made, ctypes.c_uint(number))
            self._copy(level, image, to_device=True)
        return made

    def _copy(self, array: ctypes.c_void_p, image: Image, *, to_device: bool) -> None:
        """Between the array and the memory of the image; layers lie one behind the other as planes do."""
        layers, depth, height, width, channels = image.data.shape
        row = width * channels * image.data.dtype.itemsize
        here = _End(kind=_HOST, host=image.data.ctypes.data, pitch=row, height=height)
        there = _End(kind=_ARRAY, array=array.value)
        ends = (here, there) if to_device else (there, here)
        copy = _Copy(*ends, width=row, height=height, depth=layers * depth)
        self._call("cuMemcpy3D_v2", ctypes.byref(copy))


def _described(image: Image, flags: int) -> _Description:
    """Sizes that a geometry does not have are 0; layers count as depth."""
    geometry = image.geometry
    if geometry.endswith("ms"):
        raise UnbindableError(f"the driver has no textures with samples (`.{geometry}`)")
    layers, depth, height, width, channels = image.data.shape
    is_layered, is_cube = geometry.startswith("a"), geometry.endswith("cube")
    flags |= (_LAYERED if is_layered else 0) | (_CUBE if is_cube else 0)
    deep = layers if is_layered or is_cube else depth if geometry == "3d" else 0
    kind = _FORMATS[np.dtype(image.data.dtype).str[1:]]
    return _Description(width, height if SPATIAL[geometry] > 1 else 0, deep, kind, channels, flags)


def _number(value: int) -> ctypes.c_int:
    return ctypes.c_int(value)
