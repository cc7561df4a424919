"""The byte code of the modules that runs have imported, in one file: to find and to read hundreds of small
ones takes as long as to execute them.

The file is beside those of the interpreter. As the interpreter does, it takes the code of a module from there
only if its source has the same time and size. All others are imported as usual, and added at the end.

The file also has the modules that each module imports. They are created before it, without the machinery of
`importlib`, which takes four times as long for a module of usual size as `exec` of its code.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

import ptx_lsp
from ptx_lsp.static_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from typing import Final, TypeAlias

_FORMAT: Final = (2, sys.version, sys.flags.optimize)
_LENGTH: Final = 3
"""The bytes of the length of the index, which stands before the code."""
_ERRORS: Final = (OSError, ValueError, EOFError, TypeError)
"""What reading an absent or damaged file raises."""

_Entry: TypeAlias = tuple[str, bool, int, int, str | None, int, int, tuple[str, ...]]
"""The source and whether it is a package; its time and size; its own cache; start and length of the code; the
modules that it imports, as far as they were not there yet.
"""


class CodeCache:
    """Finds modules in the file. `install` it before they are imported, and `write` it after."""

    def __init__(
        self, place: str | None = None, packages: tuple[str, ...] = ("ptx_lsp.",)
    ) -> None:
        """`packages` are the beginnings of the names of modules; by default, those of this project."""
        spec = sys.modules[ptx_lsp.__name__].__spec__
        if place is None and spec is not None and spec.cached is not None:
            place = os.path.join(os.path.dirname(spec.cached), "modules.prepared")
        self._place = place if hasattr(os, "pread") else None
        self._packages = packages
        self._entries: dict[str, _Entry] = {}
        self._missing: list[str] = []
        self._imported: dict[str, list[str]] = {}
        """What modules of the file import that their entries do not have."""
        self._requests: list[str] = []
        """The modules that the one under execution has imported so far."""
        self._file = self._code = 0

    def install(self) -> None:
        """Finds the modules of this process from now on."""
        if self._place is None:
            return
        try:
            self._file = os.open(self._place, os.O_RDONLY)
            size = int.from_bytes(os.pread(self._file, _LENGTH, 0), "little")
            form, entries = marshal.loads(os.pread(self._file, size, _LENGTH))
            if form == _FORMAT:
                self._entries, self._code = entries, _LENGTH + size
        except _ERRORS:
            pass
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module, if it is in the file and its source is the same."""
        if path is None or not name.startswith(self._packages):
            return None
        self._requests.append(name)
        entry = self._entries.get(name)
        if entry is None:
            self._missing.append(name)
            return None
        source, _, time, size, *_ = entry
        if _state(source) != (time, size) or not source.startswith(path[0]):
            self._missing.append(name)
            return None
        self._create_imports(entry)
        return self._spec(name, entry)

    def _spec(self, name: str, entry: _Entry) -> ModuleSpec:
        source, is_package, _, _, cached, start, length, _ = entry
        spec = ModuleSpec(name, _Loader(name, source, self, start, length), origin=source)
        spec.has_location = True
        spec.cached = cached
        if is_package:
            spec.submodule_search_locations = [os.path.dirname(source)]
        return spec

    def _create_imports(self, entry: _Entry) -> None:
        """Creates what a module imports, unless there may be threads, which would see incomplete modules."""
        if "threading" not in sys.modules:
            for name in entry[-1]:
                if name not in sys.modules:
                    self._create(name)

    def _create(self, name: str) -> None:
        """Creates a module and what it imports as `importlib` would. If that fails, it is not there, and
        importing it reports why.
        """
        package, _, last = name.rpartition(".")
        parent, entry = sys.modules.get(package), self._entries.get(name)
        if parent is None or entry is None or _state(entry[0]) != entry[2:4]:
            return
        if not entry[0].startswith(parent.__path__[0]):
            return
        self._create_imports(entry)
        spec = self._spec(name, entry)
        setattr(spec, "_initializing", False)  # noqa: B010 (else each `import` of it raises an error inside)
        module = ModuleType(name)
        module.__spec__ = spec
        module.__loader__ = spec.loader
        module.__package__ = spec.parent
        module.__file__ = entry[0]
        setattr(module, "__cached__", entry[4])  # noqa: B010 (not declared)
        if spec.submodule_search_locations is not None:
            module.__path__ = spec.submodule_search_locations
        sys.modules[name] = module
        try:
            cast(_Loader, spec.loader).exec_module(module)
        except Exception:
            del sys.modules[name]
        else:
            setattr(parent, last, module)

    def execute(self, module: ModuleType, code: CodeType) -> None:
        """Executes a module of the file, and notes what it imports."""
        outer = self._requests
        self._requests = []
        try:
            exec(code, module.__dict__)
            known = self._entries[module.__name__][-1]
            new = [name for name in self._requests if name not in known]
            if new:
                self._imported[module.__name__] = new
        finally:
            self._requests = outer

    def code(self, start: int, length: int) -> bytes:
        """The marshalled code of a module."""
        return os.pread(self._file, length, self._code + start)

    def write(self) -> None:
        """Adds the modules that were missing and the imports that were not known, if that is possible."""
        missing = {name: spec for name in self._missing if (spec := _source_spec(name)) is not None}
        place = self._place
        if not (missing or self._imported) or place is None or sys.dont_write_bytecode:
            return
        if not os.access(os.path.dirname(place), os.W_OK):
            return
        entries: dict[str, _Entry] = {}
        codes: list[bytes] = []
        start = 0
        try:
            for name, entry in self._entries.items():
                if name not in missing and _state(entry[0]) == entry[2:4]:
                    codes.append(self.code(*entry[5:7]))
                    imports = (*entry[7], *self._imported.get(name, ()))
                    entries[name] = (*entry[:5], start, len(codes[-1]), imports)
                    start += len(codes[-1])
            for name, (spec, loader) in missing.items():
                source = loader.path
                state = _state(source)
                code = loader.get_code(name)
                if state is not None and code is not None:
                    codes.append(marshal.dumps(code))
                    is_package = spec.submodule_search_locations is not None
                    entries[name] = (source, is_package, *state, spec.cached, start, len(codes[-1]), ())
                    start += len(codes[-1])
            index = marshal.dumps((_FORMAT, entries))
            beside = f"{place}.{os.getpid()}"
            with open(beside, "wb") as file:
                file.writelines((len(index).to_bytes(_LENGTH, "little"), index, *codes))
            os.replace(beside, place)
        except _ERRORS:
            return


class _Loader(SourceFileLoader):
    """Takes the code of a module from the file."""

    def __init__(self, name: str, source: str, cache: CodeCache, start: int, length: int) -> None:
        self.name = name
        self.path = source
        self._at = cache, start, length

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(self.name)
        if code is None:
            raise ImportError(f"the source of {self.name} has no code", name=self.name)
        self._at[0].execute(module, code)

    def get_code(self, fullname: str) -> CodeType | None:
        cache, start, length = self._at
        try:
            return cast(CodeType, marshal.loads(cache.code(start, length)))
        except _ERRORS:
            return super().get_code(fullname)


def _state(source: str) -> tuple[int, int] | None:
    """The time and the size of a file."""
    try:
        status = os.stat(source)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _source_spec(name: str) -> tuple[ModuleSpec, SourceFileLoader] | None:
    """How a module was found, if it has been imported from its source."""
    module = sys.modules.get(name)
    spec = module.__spec__ if module is not None else None
    if spec is not None and isinstance(spec.loader, SourceFileLoader):
        return spec, spec.loader
    return None
