"""Modules in the memory of the device, and their kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from tempfile import NamedTemporaryFile

from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.fat_binaries import MAGIC
from ptx_lsp.containers.registry import open_container
from ptx_lsp.cuda.device_memory import DeviceMemory
from ptx_lsp.cuda.host_memory import host_bytes, read_text, read_word
from ptx_lsp.cuda.results import DriverError, Result
from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.data_segment import ModuleMemory, Resident
from ptx_lsp.executor.machine.memory import CONST_WINDOW
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import size_bytes
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Variable

_WRAPPER = b"\xb1\x43\x62\x46"
_ELF = b"\x7fELF"
_FAT_HEADER = 16
_MACHINE_CODE = (
    "the module is machine code, which cannot be executed; the program must compile to PTX "
    "(docs/python-programs.md)"
)


class LoadedModule:
    """A module whose variables are in the memory of the device. `name` is what messages call it."""

    def __init__(self, text: str, name: str, memory: DeviceMemory) -> None:
        self.text, self.name = text, name
        self.module = Module.parse(text)
        if not self.module.functions and not self.module.variables:
            raise DriverError(Result.INVALID_PTX, "the module has neither functions nor variables")
        self.resident = Resident(memory.memory)
        before = {one.base for one in memory.memory.buffers}
        self.kernels = {
            one.name: Kernel(one, self) for one in self.module.functions
            if one.is_kernel and one.symbol.is_definition
        }
        self._variables = {one.base for one in memory.memory.buffers} - before

    def kernel(self, name: str) -> Kernel:
        """The kernel with a name. Raises DriverError if there is none."""
        if name not in self.kernels:
            raise DriverError(Result.NOT_FOUND)
        return self.kernels[name]

    def variable(self, name: str) -> tuple[int, int]:
        """The generic address and the size of a variable. Raises DriverError if there is none."""
        for one in self.module.variables:
            if isinstance(one, Variable) and one.name == name:
                address = self.resident.variables.get(id(one.declarator))
                if address is not None:
                    return address + (CONST_WINDOW if one.space == ".const" else 0), size_bytes(one) or 0
        raise DriverError(Result.NOT_FOUND)

    def unload(self) -> None:
        """Frees the memory of the variables."""
        for base in self._variables:
            self.resident.memory.remove(base)
        self._variables.clear()


@dataclass(eq=False)
class Kernel:
    """A kernel of a loaded module."""

    function: Function
    module: LoadedModule
    prepared: dict[tuple[int, bool], PreparedLaunch] = field(
        default_factory=dict[tuple[int, bool], PreparedLaunch]
    )
    """Launches to come, by their bytes of dynamic shared memory, and whether they are cooperative."""

    attributes: dict[int, int] = field(default_factory=dict[int, int])
    """The values that the program has set, by the number of the `CUfunction_attribute`."""
    handle: int = 0

    def __post_init__(self) -> None:
        self.image = ModuleMemory(self.module.module, self.function, self.module.resident, 0)
        """The layout of its memory without dynamic shared memory."""

    @property
    def name(self) -> str:
        return self.function.name

    @cached_property
    def parameters(self) -> list[tuple[int, int]]:
        """The offsets and sizes of its parameters."""
        return [
            (self.image.addresses[id(one.declarator)], size_bytes(one) or 8) for one in self.image.parameters
        ]


def read_image(address: int) -> str:
    """The PTX text in the image of a module: the text itself, or that of a fat binary."""
    head = host_bytes(address, 4).tobytes()
    if head == _WRAPPER:
        return read_image(read_word(address + 8))
    if head == _ELF:
        raise DriverError(Result.NO_BINARY_FOR_GPU, _MACHINE_CODE)
    if head == MAGIC:
        size = _FAT_HEADER + read_word(address + 8)
        return _text_of(host_bytes(address, size).tobytes())
    return read_text(address)


def text_of(data: bytes) -> str:
    """The PTX text in a file or in data to link."""
    if data.startswith(_ELF):
        raise DriverError(Result.NO_BINARY_FOR_GPU, _MACHINE_CODE)
    return _text_of(data) if data.startswith(MAGIC) else data.rstrip(b"\0").decode("utf-8", "replace")


def _text_of(fat_binary: bytes) -> str:
    with NamedTemporaryFile(suffix=".fatbin") as file:
        file.write(fat_binary)
        file.flush()
        try:
            container = open_container(file.name)
            if container is None or not container.members:
                raise DriverError(Result.NO_BINARY_FOR_GPU, "the fat binary has no PTX")
            return container.members[-1].read().decode("utf-8", "replace")
        except ContainerError as error:
            raise DriverError(Result.INVALID_IMAGE, f"the fat binary {error}") from error
