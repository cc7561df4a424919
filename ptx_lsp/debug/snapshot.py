"""Copies of the state of a run, from which it goes on exactly as it did.

1. What decoding made never changes: instructions, the kernel, the layout of registers. A copy refers to it.
2. Instructions refer to the memory of the launch, so its contents are put back in place.
3. All else is pickled: waves with their registers, barriers, asynchronous operations, checks. Arrays that
   share memory share it in the copy.
4. Large contents that several copies have in common exist once.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TypeAlias, cast
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.machine.memory import Bytes
from ptx_lsp.executor.machine.observer import Observers

_PAGE = 1 << 16
_LEAST_SHARED = 1 << 10

_Reduced: TypeAlias = "tuple[Callable[..., object], tuple[object, ...]]"
"""A function that makes an object anew, and its arguments."""
Array: TypeAlias = npt.NDArray[np.generic]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A copy. `memory` has the writable arrays of the launch's memory, each with its contents in pages."""

    pickled: bytes
    buffers: tuple[bytes, ...]
    memory: tuple[tuple[Bytes, tuple[bytes, ...]], ...]

    @property
    def contents(self) -> Iterable[bytes]:
        """All but what is pickled."""
        return (*self.buffers, *(page for _, pages in self.memory for page in pages))


class Copier:
    """Makes copies of objects, and objects of copies."""

    def __init__(self, fixed: Iterable[object], memory: Callable[[], Sequence[Bytes]]) -> None:
        """`fixed` and all that they refer to never change, but for the contents of the arrays of `memory`."""
        self._memory = memory
        self._fixed = _Fixed(_reachable((*fixed, *memory())))
        self._common: dict[bytes, bytes] = {}
        self.size = 0
        """The bytes of all copies that are kept."""

    def copy(self, state: object) -> Snapshot:
        """A copy of an object and of memory."""
        file = io.BytesIO()
        arrays: list[pickle.PickleBuffer] = []
        memory = [(data, self._pages(data)) for data in self._memory()]
        for data, _ in memory:
            for one in _reachable((data,)):
                self._fixed.add(one)
        _Pickler(file, self._fixed, arrays.append).dump(state)
        buffers = tuple(self._kept(bytes(array.raw())) for array in arrays)
        pickled = file.getvalue()
        self.size += len(pickled)
        return Snapshot(pickled, buffers, tuple(memory))

    def restore(self, copied: Snapshot) -> object:
        """The object; memory is as it was then, and zero where there was none."""
        known = {id(data) for data, _ in copied.memory}
        for data in self._memory():
            if id(data) not in known:
                data[:] = 0
        for data, pages in copied.memory:
            for number, page in enumerate(pages):
                data[number * _PAGE : number * _PAGE + len(page)] = np.frombuffer(page, np.uint8)
        buffers = [bytearray(one) for one in copied.buffers]
        return _Unpickler(copied.pickled, buffers, self._fixed).load()

    def keep(self, copies: Iterable[Snapshot]) -> None:
        """Forgets contents that none of these has."""
        self._common = {}
        self.size = 0
        for one in copies:
            self.size += len(one.pickled)
            for data in one.contents:
                self._kept(data)

    def _pages(self, data: Bytes) -> tuple[bytes, ...]:
        return tuple(self._kept(data[at : at + _PAGE].tobytes()) for at in range(0, data.size, _PAGE))

    def _kept(self, data: bytes) -> bytes:
        if len(data) < _LEAST_SHARED:
            self.size += len(data)
            return data
        digest = blake2b(data, digest_size=16).digest()
        found = self._common.get(digest)
        if found is None:
            self._common[digest] = found = data
            self.size += len(data)
        return found


class _Fixed:
    """Objects that copies refer to, by numbers."""

    def __init__(self, objects: list[object]) -> None:
        self.objects = objects
        self._numbers = {id(one): number for number, one in enumerate(objects)}

    def number(self, one: object) -> int | None:
        found = self._numbers.get(id(one))
        return self.add(one) if found is None and _is_unchanged(one) else found

    def add(self, one: object) -> int:
        found = self._numbers.setdefault(id(one), len(self.objects))
        if found == len(self.objects):
            self.objects.append(one)
        return found


class _Pickler(pickle.Pickler):
    def __init__(
        self, file: io.BytesIO, fixed: _Fixed, keep: Callable[[pickle.PickleBuffer], object]
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=keep)
        self._fixed = fixed

    def persistent_id(self, obj: object) -> int | None:
        return self._fixed.number(obj)

    def reducer_override(self, obj: object) -> _Reduced:
        if isinstance(obj, np.ndarray):
            view = cast(Array, obj)
            if isinstance(view.base, np.ndarray):
                return _view, _place(view)
        elif isinstance(obj, WeakKeyDictionary):
            return _weak, (list(cast("WeakKeyDictionary[object, object]", obj).items()),)
        elif isinstance(obj, WeakSet):
            return _weak_set, (list(cast("WeakSet[object]", obj)),)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, pickled: bytes, buffers: Sequence[bytearray], fixed: _Fixed) -> None:
        super().__init__(io.BytesIO(pickled), buffers=buffers)
        self._fixed = fixed

    def persistent_load(self, pid: int) -> object:
        return self._fixed.objects[pid]


def _place(view: Array) -> tuple[Array, int, tuple[int, ...], tuple[int, ...], str, bool]:
    """The array that owns the memory of a view, and where in it the view lies."""
    owner = view
    while isinstance(owner.base, np.ndarray):
        owner = cast(Array, owner.base)
    offset = _address(view) - _address(owner)
    return owner, offset, view.shape, view.strides, view.dtype.str, view.flags.writeable


def _address(array: Array) -> int:
    return cast(int, array.__array_interface__["data"][0])


def _view(
    owner: Array, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: str, writeable: bool
) -> Array:
    found: Array = np.ndarray(shape, dtype, owner, offset, strides)
    found.flags.writeable = writeable
    return found


def _weak(items: list[tuple[object, object]]) -> WeakKeyDictionary[object, object]:
    return WeakKeyDictionary(items)


def _weak_set(items: list[object]) -> WeakSet[object]:
    return WeakSet(items)


_PLAIN = (int, float, complex, str, bytes, type(None), type, ModuleType, BuiltinFunctionType, np.dtype)
_UNCHANGED = ("ptx_lsp.model.", "ptx_lsp.syntax.", "ptx_lsp.isa.")
"""The packages whose objects never change while a kernel runs."""
_EXECUTOR = "ptx_lsp.executor."
"""What else the executor refers to, such as where threads print, is no part of its state."""


def _is_unchanged(one: object) -> bool:
    return isinstance(one, FunctionType) or type(one).__module__.startswith(_UNCHANGED)


def _reachable(roots: Iterable[object]) -> list[object]:
    """All objects that these refer to, but for values."""
    found: dict[int, object] = {}
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, _PLAIN):
            found[id(one)] = one
            waiting += _parts(one)
    return list(found.values())


def _parts(one: object) -> Iterable[object]:
    """What an object refers to. Observers are no part of what they observe."""
    if isinstance(one, FunctionType):
        return [cell.cell_contents for cell in one.__closure__ or ()]
    if isinstance(one, MethodType):
        return (one.__self__, one.__func__)
    if isinstance(one, (list, tuple, set, frozenset)):
        return cast("Iterable[object]", one)
    if isinstance(one, dict):
        table = cast("dict[object, object]", one)
        return (*table.keys(), *table.values())
    if isinstance(one, np.ndarray):
        base = cast(Array, one).base
        return (base,) if isinstance(base, np.ndarray) else ()
    if isinstance(one, Observers) or not type(one).__module__.startswith(_EXECUTOR):
        return ()
    slots = (name for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ()))
    return (
        *getattr(one, "__dict__", {}).values(),
        *(getattr(one, name) for name in slots if hasattr(one, name)),
    )
