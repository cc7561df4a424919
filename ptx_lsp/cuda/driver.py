"""The state of the driver: one device, its memory, and what handles stand for."""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

from ptx_lsp.cuda.device_memory import DeviceMemory
from ptx_lsp.cuda.launches import Launches
from ptx_lsp.cuda.modules import Kernel, LoadedModule
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.isa.device_limits import DeviceLimits, limits_of
from ptx_lsp.isa.target import Target, parse_target

VERSION = 13000
"""Of CUDA: 13.0. Programs choose by it which functions they ask for."""
CONTEXT = 0x1000
"""The handle of the context, of which there is one."""

_FIRST_HANDLE = 0x2000
Deferred: TypeAlias = "tuple[Callable[[int], int], int, Deferred | None]"
"""A call, its argument, and the calls before."""
_T = TypeVar("_T")


class Contexts(threading.local):
    """The stack of contexts of a thread."""

    def __init__(self) -> None:
        self.stack: list[int] = []


@dataclass
class Driver:
    """The driver of this process. Programs call it from any thread, and it does one thing at a time."""

    launches: Launches
    memory: DeviceMemory = field(default_factory=DeviceMemory)
    contexts: Contexts = field(default_factory=Contexts)
    objects: dict[int, object] = field(default_factory=dict[int, object])
    lock: threading.RLock = field(default_factory=threading.RLock)
    is_primary_active: bool = False
    deferred: Deferred | None = None
    """Calls to be made before the next function."""
    context_limits: dict[int, int] = field(default_factory=dict[int, int])
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    """Where the functions of the driver are, by name."""
    texts: dict[str, ctypes.Array[ctypes.c_char]] = field(
        default_factory=dict[str, "ctypes.Array[ctypes.c_char]"]
    )
    """Texts that were given to C."""
    _missing: dict[str, tuple[int, object]] = field(default_factory=dict[str, "tuple[int, object]"])
    _next_handle: int = _FIRST_HANDLE
    _modules: int = 0

    def __post_init__(self) -> None:
        self._folder = Path(self.launches.settings.module_folder).absolute()
        """Of modules. Programs change the current folder."""
        if self.launches.settings.module_folder:
            self._folder.mkdir(parents=True, exist_ok=True)

    @property
    def target(self) -> Target:
        found = parse_target(self.launches.settings.device)
        assert found is not None
        return found

    @property
    def limits(self) -> DeviceLimits:
        return limits_of(self.target)

    def add(self, value: object) -> int:
        """A handle for an object."""
        handle, self._next_handle = self._next_handle, self._next_handle + 16
        self.objects[handle] = value
        return handle

    def text(self, text: str) -> int:
        """The address of a text, which stays."""
        return ctypes.addressof(self.texts.setdefault(text, ctypes.create_string_buffer(text.encode())))

    def get(self, handle: int, kind: type[_T]) -> _T:
        """The object of a handle. Raises DriverError if it is of another kind."""
        found = self.objects.get(handle)
        if not isinstance(found, kind):
            raise DriverError(Result.INVALID_HANDLE)
        return found

    def remove(self, handle: int, kind: type[_T]) -> _T:
        """Forgets a handle. Raises DriverError if its object is of another kind."""
        found = self.get(handle, kind)
        del self.objects[handle]
        return found

    def missing(self, name: str) -> int:
        """The address of a function that fails, for one that is not implemented."""
        if name not in self._missing:

            def fail() -> int:
                self.note(name, "this function of the CUDA driver is not implemented")
                return Result.NOT_SUPPORTED

            callback = ctypes.CFUNCTYPE(ctypes.c_int)(fail)
            self._missing[name] = ctypes.cast(callback, ctypes.c_void_p).value or 0, callback
        return self._missing[name][0]

    def perform_deferred(self) -> None:
        """Does what was put off, in order."""
        last, self.deferred = self.deferred, None
        calls: list[tuple[Callable[[int], int], int]] = []
        while last is not None:
            calls.append(last[:2])
            last = last[2]
        for perform, handle in reversed(calls):
            perform(handle)

    def kernel_handle(self, kernel: Kernel) -> int:
        """The handle of a kernel, always the same."""
        if not kernel.handle:
            kernel.handle = self.add(kernel)
        return kernel.handle

    def load(self, text: str) -> LoadedModule:
        """Loads a module, and writes it to a file if the settings ask for it."""
        self._modules += 1
        entry = re.search(r"\.entry\s+([\w$]+)", text)
        label = entry[1] if entry else "module"
        folder = self.launches.settings.module_folder
        if not folder:
            return LoadedModule(text, f"<module {self._modules}>", self.memory)
        name = f"{self._modules:03}-{label[:60]}.ptx"
        try:
            (self._folder / name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise DriverError(Result.UNKNOWN, f"the module cannot be saved: {error}") from error
        return LoadedModule(text, str(Path(folder, name)), self.memory)

    def note(self, name: str, message: str) -> None:
        """Says why a driver function fails."""
        print(f"ptx-run: {name}: {message}", file=sys.stderr)
