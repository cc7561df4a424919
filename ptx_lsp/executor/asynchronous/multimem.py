"""Operations on multimem addresses.

A multimem address stands for one place in the memory of each of several GPUs (`multimem_memory.py`). A
store or reduction goes to all of them, one after the other; `multimem.ld_reduce` combines what it loads
from all, in the order of the GPUs, each time rounded to the type that it accumulates in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ptx_lsp.executor.arithmetic.program import UNSIGNED, Array, Bools, DType
from ptx_lsp.executor.asynchronous.async_reduction import Reduction, reduction, to_bf16
from ptx_lsp.executor.asynchronous.async_store import async_store
from ptx_lsp.executor.asynchronous.bulk_copy import bulk_copy
from ptx_lsp.executor.instructions.access import Load, load, store
from ptx_lsp.executor.instructions.atomic import atomic
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Action
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.memory import Addresses
from ptx_lsp.executor.machine.multimem_memory import replicas
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.isa.schema.entry import form_type
from ptx_lsp.isa.types import TYPES
from ptx_lsp.syntax import nodes

_Build = Callable[[nodes.Instruction, Match, Operands, Spaces], Action]
_Reduction = Callable[[Sequence[Array]], Array]
"""From what each GPU has to one value, both as bits."""


class Everywhere:
    """The operation on the memory of each GPU."""

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions

    def run(self, wave: Wave, mask: Bools | None) -> None:
        for action in self._actions:
            action.run(wave, mask)


class LoadReduce(Load):
    """`multimem.ld_reduce`"""

    def __init__(self, loads: Sequence[Load], reduction: _Reduction) -> None:
        first = loads[0]
        self.spaces, self.address = first.spaces, first.address
        self.space = first.space
        self.element, self.destinations, self.dtypes = first.element, first.destinations, first.dtypes
        self._loads, self._reduction = loads, reduction

    def _reader(
        self, wave: Wave, addresses: Addresses, lanes: Bools | None, size: int
    ) -> Callable[[int], Array]:
        readers = [one._reader(wave, addresses, lanes, size) for one in self._loads]
        element, raw = self.element, UNSIGNED[8 * self.element.itemsize]

        def read(at: int) -> Array:
            found = [np.ascontiguousarray(one(at)).view(raw) for one in readers]
            return self._reduction(found).view(element)

        return read


def multimem(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Action:
    """The action of an instruction whose opcode is `multimem`."""
    name = match.entry.name.removeprefix("multimem.")
    if name == "ld_reduce":
        loads = [load(node, match, operands, one) for one in replicas(spaces)]
        return loads[0] if len(loads) == 1 else LoadReduce(loads, _reduction(match))
    builds: dict[str, _Build] = {
        "st": store, "red": atomic, "st.async": async_store, "red.async": async_store,
    }
    build = builds.get(name, bulk_copy)
    return Everywhere([build(node, match, operands, one) for one in replicas(spaces)])


def _reduction(match: Match) -> _Reduction:
    """The reduction of a load. Raises ExecutionError for small floats, whose rounding the manual does not
    specify.
    """
    choices = match.candidate.choices
    name = form_type(choices)
    small = name.partition("x")[0]
    operation = next(one for one in choices.modifiers if one in _OPERATIONS)
    if small in (".e4m3", ".e5m2"):
        message = f"`multimem.ld_reduce` of `{name}` from several GPUs is not supported yet"
        raise ExecutionError(message, "unsupported")
    type = TYPES[small]
    element = UNSIGNED[type.width]
    if ".acc::f32" in choices.modifiers:
        return _in_words(element, _add_f16 if small == ".f16" else _add_bf16)
    return _in_words(element, _folded(reduction(operation, type)))


_OPERATIONS = frozenset((".add", ".min", ".max", ".and", ".or", ".xor"))


def _in_words(element: DType, reduction: _Reduction) -> _Reduction:
    """The same for each element of wider words."""

    def all(values: Sequence[Array]) -> Array:
        return reduction([one.view(element) for one in values]).view(values[0].dtype)

    return all


def _folded(combine: Reduction) -> _Reduction:
    return lambda values: reduce(combine, values)


def _add_f16(values: Sequence[Array]) -> Array:
    total = reduce(np.add, (one.view(np.float16).astype(np.float32) for one in values))
    return np.where(np.isnan(total), np.uint16(0x7FFF), total.astype(np.float16).view(np.uint16))


def _add_bf16(values: Sequence[Array]) -> Array:
    wide = ((one.astype(np.uint32) << np.uint32(16)).view(np.float32) for one in values)
    return to_bf16(reduce(np.add, wide))
