"""Loads and stores: `ld`, `ldu` and `st` in all state spaces, scalars and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ptx_lsp.executor.arithmetic.emitter import Emitter
from ptx_lsp.executor.arithmetic.program import SIGNED, UNSIGNED, Array, Bools, DType, Program
from ptx_lsp.executor.machine.address_resolution import SPACES, ResolvedAddress, Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Addresses, Bytes, Space
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.types import TYPES, Kind, Type
from ptx_lsp.syntax import nodes


class Load:
    """`ld`: `destinations` has the number of a register (None: `_`) for each element."""

    def __init__(
        self, spaces: Spaces, address: Program, space: Space, type: Type,
        destinations: tuple[int | None, ...], dtypes: dict[int, DType],
    ) -> None:
        self.spaces, self.address = spaces, address
        self.space: Space = space
        self.element = _element(type, SIGNED if type.kind is Kind.SIGNED else UNSIGNED)
        self.destinations = destinations
        self.dtypes = dtypes

    def place(self, wave: Wave, lane: int) -> str:
        """The memory that a lane (flat number) reads, and its value, for messages; "" if unknown."""
        if self.address.reads & set(self.destinations):
            return ""
        return place(wave, lane, self.spaces, self.space, self.address, self.element.itemsize)

    def run(self, wave: Wave, mask: Bools | None) -> None:
        if self.spaces.older is None:
            addresses, lanes = active(wave, self.address, mask)
        else:
            addresses, lanes = active(wave, self.address, wave.present(mask), whole=True)
        size = self.element.itemsize * len(self.destinations)
        read = self._reader(wave, addresses, lanes, size)
        for at, number in enumerate(self.destinations):
            if number is None:
                continue
            loaded = read(at).astype(self.dtypes[number], copy=False)
            if lanes is None:
                wave.write(number, loaded, mask)
            else:
                scatter(wave, number, loaded, lanes)

    def _reader(
        self, wave: Wave, addresses: Addresses, lanes: Bools | None, size: int
    ) -> Callable[[int], Array]:
        """What reads the element with a number, by the quickest way there is."""
        element, shape = self.element, addresses.shape
        piece = self.spaces.piece(addresses, self.space, size)
        if piece is not None:
            return lambda at: np.array(_column(piece, element, size, at)).reshape(shape)
        rows = self.spaces.same_in_all(wave, addresses, self.space, size) if lanes is None else None
        if rows is not None:
            return lambda at: _columns(rows, element, addresses, at)
        found = self.spaces.resolve(wave, addresses, self.space, size, lanes)
        if self.spaces.older is not None:
            found = self.spaces.older.older(wave, found)
        return lambda at: gather(found, shape, element, at)


class Store:
    """`st`: `values` computes the elements, each in the unsigned type of its size."""

    def __init__(
        self, spaces: Spaces, address: Program, space: Space, type: Type, values: Program
    ) -> None:
        self.spaces, self.address = spaces, address
        self.space: Space = space
        self.element = _element(type, UNSIGNED)
        self.values = values

    def run(self, wave: Wave, mask: Bools | None) -> None:
        values = self.values.run(wave.registers)
        addresses, lanes = active(wave, self.address, wave.present(mask), whole=True)
        size = self.element.itemsize * len(values)
        piece = self.spaces.piece(addresses, self.space, size)
        if piece is not None and piece.flags.writeable:
            for at, value in enumerate(values):
                _column(piece, self.element, size, at)[:] = of_lanes(wave, value, lanes).reshape(-1)
            return
        for reach, part in self.spaces.resolve(wave, addresses, self.space, size, lanes, "write"):
            index = reach.offsets >> np.uint64(self.element.itemsize.bit_length() - 1)
            memory = writable(reach, self.element)
            for at, value in enumerate(values):
                here = of_lanes(wave, value, lanes)
                if part is not None:
                    here = here[part]
                put(memory, index + np.uint64(at) if at else index, here)


def load(node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces) -> Load:
    destination, source = node.operands[0], node.operands[1]
    numbers = operands.numbers(destination)
    space, address = address_of(source, match, operands)
    return Load(spaces, address, space, type_of(match), numbers, operands.frame.dtypes)


def store(node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces) -> Store:
    target, source = node.operands[0], node.operands[1]
    space, address = address_of(target, match, operands)
    type = type_of(match)
    return Store(spaces, address, space, type, sources([(source, type)], operands))


def sources(
    items: Sequence[tuple[nodes.Expression, Type]], operands: Operands
) -> Program:
    """Computes operands, vectors element by element: their bits, each in the unsigned array type of its size,
    `.b128` in two halves; predicates as truth.
    """
    program = Program()
    emitter = Emitter(program, operands.frame.dtypes)
    for item, type in items:
        for value in operands.elements(item, type):
            if type.kind is Kind.PREDICATE:
                program.outputs.append(emitter.truth(value))
            elif type.width == 128:
                program.outputs += [emitter.modular(value >> at, 64) for at in (0, 64)]
            else:
                slot = emitter.modular(value, 64 if type.width == 64 else 32)
                program.outputs.append(program.cast(slot, UNSIGNED[type.width]))
    return program


def address_of(
    operand: nodes.Expression, match: Match, operands: Operands
) -> tuple[Space, Program]:
    """The state space of an access and the program that computes its addresses."""
    modifiers = (word.partition("::")[0] for word in match.candidate.choices.modifiers)
    space: Space = ""
    for word in modifiers:
        space = SPACES.get(word, space)
    return located(operand, space, operands)


def located(
    operand: nodes.Expression, space: Space, operands: Operands
) -> tuple[Space, Program]:
    """The state space of an address, "" for a generic one, and the program that computes it."""
    variable = operands.variable(operand)
    if space == ".param" and variable is not None and not operands.is_launched(variable):
        space = ".local"  # parameters of calls lie where local variables do
    if space == "" and variable is not None:  # its name stands for an address in its own space
        space = SPACES.get(variable.space, "")
    program = Program()
    emitter = Emitter(program, operands.frame.dtypes)
    bits = 64 if space in ("", ".global") else 32
    program.outputs.append(program.cast(emitter.modular(operands.address(operand), bits), UNSIGNED[64]))
    return space, program


def type_of(match: Match) -> Type:
    type = TYPES[form_type(match.candidate.choices)]
    if type.width not in UNSIGNED and type.width != 128:
        raise ExecutionError(f"access of type `{type.name}` is not supported yet", "unsupported")
    return type


def _element(type: Type, dtypes: dict[int, DType]) -> DType:
    """What is loaded and stored at once: of `.b128` a half."""
    return dtypes[min(type.width, 64)]


def place(wave: Wave, lane: int, spaces: Spaces, space: Space, address: Program, size: int) -> str:
    """The memory that a lane (flat number) accesses with its current registers, and its value, in words; ""
    if there is none.
    """
    mask = np.zeros(wave.shape, np.bool_)
    mask.reshape(-1)[lane] = True
    addresses = wave.broadcast(address.run(wave.registers)[0].view(np.uint64))[mask]
    try:
        ((reach, _),) = spaces.resolve(wave, addresses, space, size, mask, None)
    except ExecutionError:
        return ""
    at = int(reach.offsets[0])
    value = int.from_bytes(reach.data.reshape(-1)[at : at + size].tobytes(), "little")
    name = f"{reach.space} address {int(addresses[0]):#x}"
    if reach.buffer is not None:
        offset = int(addresses[0]) - reach.buffer.base
        name = f"`{reach.buffer.name}`" + (f" + {offset}" if 0 < offset < reach.buffer.data.size else "")
    return f"{name} with the value {value:#x}" if value > 9 else f"{name} with the value {value}"


def active(
    wave: Wave, address: Program, mask: Bools | None, *, whole: bool = False
) -> tuple[Addresses, Bools | None]:
    """The addresses of the lanes in `mask`, and which lanes these are: None for an array of all, or of one
    element for all. With `whole` each lane has an element.
    """
    addresses = address.run(wave.registers)[0].view(np.uint64)
    if addresses.size == 1 and not whole:
        return addresses, None
    if mask is None:
        mask = None if whole else wave.present(None)
    if mask is None:
        return (wave.broadcast(addresses) if whole else addresses), None
    return wave.broadcast(addresses)[mask], mask


def of_lanes(wave: Wave, value: Array, lanes: Bools | None) -> Array:
    """The elements of a value that belong to addresses from `active`."""
    full = wave.broadcast(value)
    return full if lanes is None else full[lanes]


def view(reach: ResolvedAddress, element: DType) -> Array:
    """The memory as elements of a type."""
    whole = reach.data.size // element.itemsize * element.itemsize
    return reach.data.reshape(-1)[:whole].view(element)


def writable(reach: ResolvedAddress, element: DType) -> Array:
    """The writable view of memory. Raises ExecutionError if the memory is constant, or a read-only buffer."""
    if not reach.data.flags.writeable:
        raise ExecutionError("the memory is read-only", "read-only")
    return view(reach, element)


def _columns(rows: Bytes, element: DType, addresses: Addresses, at: int) -> Array:
    """What stands in each row, `at` elements behind the addresses."""
    memory: Array = rows.view(element)
    index = addresses[0] >> np.uint64(element.itemsize.bit_length() - 1)
    return np.take(memory, index.view(np.int64) + at, axis=1)


def _column(piece: Bytes, element: DType, size: int, at: int) -> Array:
    """Of lanes that reach `size` bytes each the elements with number `at`."""
    return piece.view(element).reshape(-1, size // element.itemsize)[:, at]


def gather(
    found: list[tuple[ResolvedAddress, Bools | None]], shape: tuple[int, ...], element: DType, at: int = 0
) -> Array:
    """The elements of memory `at` elements after each address."""
    result: Array | None = None
    shift = np.uint64(element.itemsize.bit_length() - 1)
    for reach, part in found:
        index = reach.offsets >> shift
        loaded = view(reach, element).take((index + np.uint64(at) if at else index).view(np.int64))
        if part is None:
            return loaded
        if result is None:
            result = np.zeros(part.shape, element)
        result[part] = loaded
    return np.zeros(shape, element) if result is None else result


def put(memory: Array, index: Addresses, values: Array) -> None:
    """Writes elements; contiguous ones as one block."""
    flat = index.reshape(-1)
    count = flat.size
    first, last = int(flat[0]), int(flat[-1])
    if count > 1 and last - first == count - 1 and (flat[1:] - flat[:-1] == 1).all():
        memory[first : last + 1] = values.reshape(-1)
    else:
        memory[index] = values


def scatter(wave: Wave, number: int, values: Array, lanes: Bools) -> None:
    """Gives the lanes of a mask their elements of `values`."""
    result = np.array(wave.broadcast(wave.registers[number]))
    result[lanes] = values
    wave.registers[number] = result
