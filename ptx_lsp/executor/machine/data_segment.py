"""The data segment: addresses and initial values of the variables of a module and a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ptx_lsp.executor.arithmetic.literals import bits, constant
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.locals import Locals, Placed, aligned, occupied
from ptx_lsp.executor.machine.memory import CONST_WINDOW, Bytes, Memory
from ptx_lsp.executor.machine.operands import FLOATS
from ptx_lsp.executor.machine.texture import Opaque
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import alignment_bytes, dimensions
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import AliasName, FunctionName, Variable
from ptx_lsp.syntax import nodes

_DYNAMIC_ALIGNMENT = 16
_ALIGNMENT = 16
_FUNCTIONS = 0x4000_0000_0000
RESERVED_BYTES = 1024
"""So much of a block's shared memory the system reserves, from sm_80 on (CUDA's programming guide)."""


@dataclass(frozen=True)
class Resident:
    """Memory that stays from one launch to the next, and the addresses that variables of a module have in it,
    by `id(declarator)`.

    `opaque` has textures, samplers and surfaces by their handles, and `workspace` is the address of the
    workspace of cooperative launches, 0 if a launch gets a new one.
    """

    memory: Memory
    variables: dict[int, int] = field(default_factory=dict[int, int])
    opaque: dict[int, Opaque] = field(default_factory=dict[int, Opaque])
    workspace: int = 0


class ModuleMemory:
    """Addresses of the variables that a kernel may use, by `id(declarator)`; sizes in bytes."""

    def __init__(self, module: Module, kernel: Function, resident: Resident, dynamic_bytes: int) -> None:
        self.addresses: dict[int, int] = {}
        self._placed: list[Placed] = []
        self._place_functions(module)
        self._place_global(module, kernel, resident)
        shared = [v for v in variables_of(module, kernel) if v.space == ".shared"]
        self.shared_bytes = self._place([v for v in shared if not _is_dynamic(v)])
        for variable in shared:
            if _is_dynamic(variable):
                alignment = max(_DYNAMIC_ALIGNMENT, alignment_bytes(variable) or 1)
                self.shared_bytes = aligned(self.shared_bytes, alignment)
        for variable in shared:
            if _is_dynamic(variable):
                self.addresses[id(variable.declarator)] = self.shared_bytes
                self._placed.append(Placed(".shared", variable.name, self.shared_bytes, dynamic_bytes))
        self.shared_bytes += dynamic_bytes
        self.reserved = range(0)
        """The addresses of the shared memory that the system reserves."""
        self.locals = Locals()
        outside = self.locals.place_all(one for one in module.variables if isinstance(one, Variable))
        self.addresses.update({key: at for key, at in outside.items() if isinstance(at, int)})
        self.own = self.locals.place(kernel)
        """The local variables of the kernel."""
        self.parameters = [v for v in kernel.launched if isinstance(v, Variable)]
        self.parameter_bytes = self._place(self.parameters)

    @property
    def placed(self) -> list[Placed]:
        """The variables of shared and local memory, and the parameters."""
        return [*self._placed, *self.locals.placed]

    @property
    def local_bytes(self) -> int:
        """The local memory of a thread without its stack."""
        return self.locals.size

    def reserve(self) -> None:
        """Adds the shared memory that the system reserves, after all other."""
        start = aligned(self.shared_bytes, _ALIGNMENT)
        self.shared_bytes = start + RESERVED_BYTES
        self.reserved = range(start, self.shared_bytes)
        self._placed.append(Placed(".shared", "%reserved_smem", start, RESERVED_BYTES))

    def _place_functions(self, module: Module) -> None:
        """Functions have addresses that are no memory, by `id` of their nodes: each declaration that of its
        definition, and each alias that of its function.
        """
        known: dict[str, int] = {}
        for function in module.functions:
            known.setdefault(function.name, _FUNCTIONS + _ALIGNMENT * (len(known) + 1))
            self.addresses[id(function.node)] = known[function.name]
        for item in module.document.items:
            if isinstance(item.node, nodes.Alias) and isinstance(item.node.aliasee, nodes.Name):
                address = known.get(item.node.aliasee.text)
                if address is not None:
                    self.addresses[id(item.node)] = address

    def _place(self, variables: Iterable[Variable]) -> int:
        """Puts variables one behind the other; where they end. What has no known size has no address."""
        end = 0
        for variable in variables:
            size, alignment = occupied(variable), alignment_bytes(variable) or 1
            if size is None:
                continue
            end = aligned(end, alignment)
            self.addresses[id(variable.declarator)] = end
            self._placed.append(Placed(variable.space, variable.name, end, size))
            end += size
        return end

    def _place_global(self, module: Module, kernel: Function, resident: Resident) -> None:
        memory, placed = resident.memory, list[tuple[Variable, Bytes]]()
        self.addresses |= resident.variables
        for variable in variables_of(module, kernel):
            size = occupied(variable)
            if id(variable.declarator) in resident.variables:
                continue
            if variable.space in (".global", ".const", ".tex") and size is not None:
                data = _zeros(variable, size)
                add = memory.add_constant if variable.space == ".const" else memory.add
                self.addresses[id(variable.declarator)] = add(variable.name, data)
                placed.append((variable, data))
        for variable, data in placed:
            is_opaque = TYPES[variable.type].kind is Kind.HANDLE
            if variable.declarator.initializer is not None and not is_opaque:
                self._initialize(module, variable, variable.declarator.initializer, data)
            if variable.space == ".const":
                data.setflags(write=False)
            if id(variable.declarator) in self.addresses:
                resident.variables[id(variable.declarator)] = self.addresses[id(variable.declarator)]

    def _initialize(
        self, module: Module, variable: Variable, value: nodes.Expression, data: Bytes
    ) -> None:
        """A variable whose initial value cannot be computed loses its address."""
        width = TYPES[variable.type].width
        vector = (variable.vector,) if variable.vector > 1 else ()
        for at, item in _items(value, (*dimensions(variable.declarator), *vector)):
            number = bits(item, width, variable.type in FLOATS)
            if number is None:
                number = self._address(module, item)
            if number is None or (at + 1) * width // 8 > data.size:
                del self.addresses[id(variable.declarator)]
                return
            raw = number.to_bytes(width // 8, "little")
            data[at * width // 8 :][: len(raw)] = np.frombuffer(raw, np.uint8)

    def _address(self, module: Module, value: nodes.Expression) -> int | None:
        """The address that `name`, `name+4` or `generic(name)` stands for."""
        match value:
            case nodes.Name(text=name):
                found = [symbol for _, symbol in module.names.get(name, ())]
                match found[:1]:
                    case [Variable(declarator=declarator)]:
                        return self.addresses.get(id(declarator))
                    case [FunctionName(node=node)] | [AliasName(node=node)]:
                        return self.addresses.get(id(node))
                    case _:
                        return None
            case nodes.Relocation(operator=nodes.Name(text="generic"), values=(inner,)):
                address = self._address(module, inner)
                is_constant = _space(module, inner) == ".const"
                return address + CONST_WINDOW if address is not None and is_constant else address
            case nodes.Binary(operator="+", left=left, right=right):
                base, offset = self._address(module, left), constant(right)
                return base + offset if base is not None and isinstance(offset, int) else None
            case _:
                return None


def _space(module: Module, value: nodes.Expression) -> str:
    """That of the variable whose address a value begins with."""
    if isinstance(value, nodes.Binary):
        return _space(module, value.left)
    found = module.names.get(value.text, ()) if isinstance(value, nodes.Name) else ()
    symbol = found[0][1] if found else None
    return symbol.space if isinstance(symbol, Variable) else ""


def _zeros(variable: Variable, size: int) -> Bytes:
    try:
        return np.zeros(size, np.uint8)
    except MemoryError as error:
        message = f"`{variable.name}` of {size} bytes does not fit in the host's memory"
        raise ExecutionError(message, "launch") from error


def variables_of(module: Module, kernel: Function) -> list[Variable]:
    """The variables of the kernel's body and of all functions, then those of the module."""
    functions = [kernel, *(f for f in module.functions if not f.is_kernel)]
    inner = [variable for function in functions for variable in function.body.variables]
    return [*inner, *(v for v in module.variables if isinstance(v, Variable))]


def _items(
    value: nodes.Expression, lengths: tuple[int | None, ...]
) -> Iterable[tuple[int, nodes.Expression]]:
    """The scalars of an initial value, each with its position. `lengths` are those of an array, and that of
    a vector behind them.
    """
    if not isinstance(value, nodes.InitializerList):
        yield 0, value
        return
    each = prod(length or 1 for length in lengths[1:])
    for index, item in enumerate(value.items):
        if isinstance(item, nodes.InitializerList):
            for at, inner in _items(item, lengths[1:]):
                yield index * each + at, inner
        else:
            yield index, item


def _is_dynamic(variable: Variable) -> bool:
    return variable.linkage == ".extern" and variable.is_unsized
