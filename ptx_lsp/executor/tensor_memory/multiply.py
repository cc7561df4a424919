"""`tcgen05.mma`, also `.sp`, `.ws` and `.ws.sp`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.arithmetic.program import Bools
from ptx_lsp.executor.instructions.threads import Threads, by_name, threads
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.control import Described
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import MemoryEvent
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.matrices import elements, products
from ptx_lsp.executor.tensor_memory import block_scales, metadata
from ptx_lsp.executor.tensor_memory.hazards import tell_begun
from ptx_lsp.executor.tensor_memory.in_flight import InFlight, Span
from ptx_lsp.executor.tensor_memory.instruction_descriptor import Form, InstructionDescriptor
from ptx_lsp.executor.tensor_memory.legality import layout_problems, problems
from ptx_lsp.executor.tensor_memory.matrices import Matrices, Plan
from ptx_lsp.executor.tensor_memory.memory import Cells
from ptx_lsp.executor.tensor_memory.operands import (
    Address,
    Inputs,
    check_columns,
    line_of,
    pair_of,
)
from ptx_lsp.executor.tensor_memory.shared_descriptor import CHUNK, SharedDescriptor
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Multiply(Described):
    """`tcgen05.mma`: each thread begins a product of its own."""

    spaces: Spaces
    form: Form
    modifiers: frozenset[str]
    inputs: Inputs
    scale_d: int
    line: int
    text: str

    def run(self, wave: Wave, mask: Bools | None) -> None:
        row = threads(wave, mask)
        if not row.count:
            return
        pairs = pair_of(row, self.form.group)
        plans: list[Plan] = []
        for at, plan in enumerate(self._plans(row)):
            try:
                self._check(wave, plan, pairs[at], row, at)
            except ExecutionError as error:
                here = np.arange(row.count) == at
                raise row.error(str(error), error.kind, here) from None
            plans.append(plan)
        product = _Product(self, wave, row.lanes, pairs, plans)
        self.spaces.began(wave, product)
        self._tell(row, pairs, plans)
        tell_begun(self.spaces, wave, row.lanes, product)
        InFlight.of(wave).operations.begin(row.lanes, pairs[:, 0], product)

    def describe(self, wave: Wave, lane: int) -> str:
        chosen = np.zeros(wave.shape, np.bool_)
        chosen.reshape(-1)[lane] = True
        plan = next(self._plans(threads(wave, chosen)))
        a = plan.a_tensor or plan.a_shared
        return f"{plan.found.text()}; A: {a.text() if a else ''}; B: {plan.b.text()}; D: {plan.d.text()}"

    def _plans(self, row: Threads) -> Iterator[Plan]:
        """The product of each thread."""
        inputs = self.inputs
        given = {
            name: inputs.numbers(row, name) for name in inputs.programs if name != "disable-output-lane"
        }
        masks: list[list[int]] = []
        if "disable-output-lane" in inputs:
            masks = [[int(one) for one in word.tolist()] for word in inputs.read(row, "disable-output-lane")]
        for at in range(row.count):
            words = {name: values[at] for name, values in given.items()}
            tensor = {
                name: Address.of(words[name] & 0xFFFFFFFF) for name in words if name.endswith("tmem")
            }
            yield Plan(
                InstructionDescriptor.of(words["idesc"], self.form), self.modifiers, tensor["d-tmem"],
                SharedDescriptor.of(words["b-desc"]),
                SharedDescriptor.of(words["a-desc"]) if "a-desc" in words else None, tensor.get("a-tmem"),
                tensor.get("sp-meta-tmem"), tensor.get("scale-A-tmem"), tensor.get("scale-B-tmem"),
                bool(words["enable-input-d"]), self.scale_d, words.get("zero-column-mask-desc", 0),
                tuple(word[at] for word in masks),
            )

    def _check(self, wave: Wave, plan: Plan, blocks: Numbers, row: Threads, at: int) -> None:
        """Raises ExecutionError for what is not valid, or not there."""
        found = plan.found
        wrong = [*problems(found, shifts=".ashift" in self.modifiers), *layout_problems(found, "B", plan.b)]
        if plan.a_shared is not None:
            wrong += layout_problems(found, "A", plan.a_shared)
        if wrong:
            raise ExecutionError("; ".join(wrong), "tensor-memory")
        limit = wave.launch.shared_bytes
        sides = [("B", plan.b_addresses())]
        if plan.a_shared is not None:
            sides.append(("A", plan.a_addresses()))
        for side, addresses in sides:
            last = int(addresses.max()) + CHUNK
            if last > limit:
                raise ExecutionError(
                    f"{side} reaches up to {last:#x} in shared memory, of {limit} bytes", "out-of-bounds"
                )
        for address, count, name in _used(plan):
            halves = plan.path.halves and name in ("D", "A", "the metadata of A")
            if address.lane not in ((0, 16) if halves else (0,)):
                expected = "0 or 16" if halves else "0"
                raise ExecutionError(
                    f"{name} is in lane {address.lane} of Tensor Memory; with this shape it must be in lane"
                    f" {expected}", "tensor-memory",
                )
            if halves and address.lane != plan.d.lane:
                raise ExecutionError(f"{name} must begin in the lane of D, {plan.d.lane}", "tensor-memory")
            check_columns(wave, blocks, address, count, name)
        self._collect(wave, plan, int(blocks[0]))

    def _collect(self, wave: Wave, plan: Plan, owner: int) -> None:
        """Applies the modifiers of collector buffers."""
        flight = InFlight.of(wave)
        default = "b0" if self.form.stationary else "a"
        uses = [one.split("::")[1:] for one in self.modifiers if one.startswith(".collector::")]
        for buffer, use in uses or [(default, "discard")]:
            a = plan.a_shared or plan.a_tensor
            source = hash(a if buffer == "a" else plan.b)
            if problem := flight.collect(owner, buffer, use, (source,)):
                raise ExecutionError(problem, "tensor-memory")

    def _tell(self, row: Threads, pairs: Numbers, plans: list[Plan]) -> None:
        """Reports what the products read of shared memory."""
        if self.spaces.observer is None:
            return
        wave = row.wave
        for at, plan in enumerate(plans):
            addresses = [plan.b_addresses()]
            if plan.a_shared is not None:
                addresses.append(plan.a_addresses())
            for one in addresses:
                starts = pairs[at][:, None] * wave.shared.shape[1]
                offsets = np.asarray((starts + np.unique(one)).reshape(-1), np.int64)
                lanes = np.full(offsets.shape, row.lanes[at])
                data = wave.shared.reshape(-1)
                self.spaces.tell(
                    wave, MemoryEvent("read", ".shared", None, data, CHUNK, lanes, offsets, "copy")
                )


class _Product:
    """The products that threads have begun."""

    def __init__(
        self, action: Multiply, wave: Wave, lanes: Numbers, pairs: Numbers, plans: list[Plan]
    ) -> None:
        self.line, self.text = action.line, action.text
        self._wave = wave
        self._lanes, self._pairs, self._plans = lanes, pairs, plans

    def spans(self, chosen: Bools) -> Iterator[Span]:
        for at in np.flatnonzero(chosen).tolist():
            blocks = self._pairs[at]
            for address, count, name in _used(self._plans[at]):
                yield Span(blocks, np.full(blocks.shape, address.column), count, name == "D")

    def land(self, chosen: Bools) -> None:
        groups: dict[Plan, list[int]] = {}
        for at in np.flatnonzero(chosen).tolist():
            groups.setdefault(self._plans[at], []).append(at)
        for plan, members in groups.items():
            try:
                _multiply(self._wave, plan, self._pairs[members])
            except ExecutionError as error:
                lanes = np.zeros(self._wave.shape, np.bool_)
                lanes.reshape(-1)[self._lanes[members]] = True
                text = f"{error.args[0]} in `{self.text}`"
                raise ExecutionError(text, error.kind, self.line, self._wave.thread_ids(lanes)) from None


def _multiply(wave: Wave, plan: Plan, pairs: Numbers) -> None:
    """D = A * B + D for pairs of blocks."""
    found = plan.found
    matrices = Matrices(wave, plan, pairs)
    index, before = matrices.d()
    a, b = matrices.a(), matrices.b().swapaxes(-1, -2)
    a = np.broadcast_to(a, (*before.shape[:-1], a.shape[-1]))
    b = np.broadcast_to(b, (*before.shape[:-2], *b.shape[-2:]))
    if found.d_type == ".s32":
        whole = before.view(np.int32).astype(np.int64) if plan.adds else np.zeros(before.shape, np.int64)
        total = products.of_integers(a, b, whole, saturates=found.saturates)
        matrices.store(index, total.astype(np.uint32))
        return
    added: Doubles = np.zeros(before.shape)
    if plan.adds:
        added = elements.decoder(found.d_type)(before) * 2.0**-plan.scale_d
    dtype = np.dtype(np.float16 if found.d_type == ".f16" else np.float32)
    bits: Cells = elements.encoded(products.of_floats(a, b, added, dtype)).astype(np.uint32)
    matrices.store(index, bits)


def _used(plan: Plan) -> Iterator[tuple[Address, int, str]]:
    """The columns that a product uses: from an address on, so many, and what for."""
    found = plan.found
    yield plan.d, plan.path.columns(found.n), "D"
    if plan.a_tensor is not None:
        yield plan.a_tensor, plan.a_columns(), "A"
    if plan.metadata is not None:
        selector = found.selector if metadata.columns(found.a_type) == 1 else 0
        address = Address(plan.metadata.lane, plan.metadata.column + selector)
        yield address, metadata.columns(found.a_type), "the metadata of A"
    if plan.scale_a is not None and plan.scale_b is not None:
        rows, scales = plan.path.rows, plan.scales
        yield plan.scale_a, block_scales.columns(rows, scales, found.scale_a), "the scales of A"
        each = found.n // plan.path.parts
        yield plan.scale_b, block_scales.columns(each, scales, found.scale_b), "the scales of B"


def multiply(
    node: nodes.Instruction, match: Match, operands: Operands, spaces: Spaces
) -> Multiply:
    """The action of `tcgen05.mma`."""
    modifiers = match.candidate.choices.modifiers
    inputs = Inputs.of(node, match, operands)
    scale = by_name(node, match).get("scale-input-d")
    shift = constant(scale) if scale is not None else 0
    programs = {
        name: program for name, program in inputs.programs.items() if name not in ("scale-input-d", "ignored")
    }
    return Multiply(
        spaces, Form.of(match.entry.name, modifiers), modifiers, Inputs(programs), int(shift or 0),
        line_of(node, operands), node.opcode.text,
    )
