"""`tcgen05.mma`, also `.sp`, `.ws` and `.ws.sp`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor.arithmetic.floats import Doubles
from ptx_lsp.executor.arithmetic.literals import constant
from ptx_lsp.executor.descriptors.instruction import Form, InstructionDescriptor
from ptx_lsp.executor.descriptors.legality import layout_problems, problems
from ptx_lsp.executor.descriptors.shared import SharedDescriptor
from ptx_lsp.executor.descriptors.zero_columns import ZeroColumns
from ptx_lsp.executor.instructions.threads import Threads, by_name
from ptx_lsp.executor.machine.address_resolution import Spaces
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.operands import Operands
from ptx_lsp.executor.machine.wave import Wave
from ptx_lsp.executor.matrices import elements, products
from ptx_lsp.executor.tensor_memory.in_flight import InFlight
from ptx_lsp.executor.tensor_memory.issue import Issue
from ptx_lsp.executor.tensor_memory.matrices import Matrices, Plan
from ptx_lsp.executor.tensor_memory.memory import Cells
from ptx_lsp.executor.tensor_memory.operands import Address, Columns, Inputs, line_of
from ptx_lsp.isa.matching.match import Match
from ptx_lsp.syntax import nodes

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Multiply(Issue[Plan]):
    """`tcgen05.mma`: each thread begins a product of its own."""

    form: Form
    modifiers: frozenset[str]
    scale_d: int
    target: str

    def requests(self, row: Threads) -> Iterator[Plan]:
        inputs = self.inputs
        given = {
            name: inputs.numbers(row, name) for name in inputs.programs if name != "disable-output-lane"
        }
        masks: list[list[int]] = []
        if "disable-output-lane" in inputs:
            masks = [[int(one) for one in word.tolist()] for word in inputs.read(row, "disable-output-lane")]
        for at in range(row.count):
            words = {name: values[at] for name, values in given.items()}
            tensor = {name: Address.of(word) for name, word in words.items() if name.endswith("tmem")}
            zeros = words.get("zero-column-mask-desc")
            yield Plan(
                InstructionDescriptor.of(words["idesc"], self.form), self.modifiers, tensor["d-tmem"],
                SharedDescriptor.of(words["b-desc"]),
                SharedDescriptor.of(words["a-desc"]) if "a-desc" in words else None, tensor.get("a-tmem"),
                tensor.get("sp-meta-tmem"), tensor.get("scale-A-tmem"), tensor.get("scale-B-tmem"),
                bool(words["enable-input-d"]), self.scale_d, None if zeros is None else ZeroColumns.of(zeros),
                tuple(word[at] for word in masks),
            )

    def check(self, wave: Wave, blocks: Numbers, request: Plan) -> None:
        found, in_tensor = request.found, request.a_tensor is not None
        wrong = [
            *problems(found, self.modifiers, a_in_tensor=in_tensor, target=self.target),
            *layout_problems(found, "B", request.b, self.target),
        ]
        if request.a_shared is not None:
            wrong += layout_problems(found, "A", request.a_shared, self.target)
        if request.zero_columns is not None:
            wrong += request.zero_columns.problems(found.m, found.most_shift)
        if wrong:
            raise ExecutionError("; ".join(wrong), "tensor-memory")
        for one in self.columns(request):
            lane = one.address.lane
            halves = request.path.halves and one.name in ("D", "A", "the metadata of A")
            if lane not in ((0, 16) if halves else (0,)):
                expected = "0 or 16" if halves else "0"
                raise ExecutionError(
                    f"{one.name} is in lane {lane} of Tensor Memory; with this shape it must be in lane"
                    f" {expected}", "tensor-memory",
                )
            if halves and lane != request.d.lane:
                message = f"{one.name} must begin in the lane of D, {request.d.lane}"
                raise ExecutionError(message, "tensor-memory")
        self._collect(wave, request, int(blocks[0]))

    def columns(self, request: Plan) -> Iterator[Columns]:
        return request.columns()

    def sources(self, request: Plan) -> Iterator[tuple[str, SharedDescriptor, Numbers]]:
        yield "B", request.b, request.b_addresses()
        if request.a_shared is not None:
            yield "A", request.a_shared, request.a_addresses()

    def request_text(self, request: Plan) -> str:
        return request.text()

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

    def perform(self, wave: Wave, pairs: Numbers, request: Plan) -> None:
        _multiply(wave, request, pairs)


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
    form, module = Form.of(match.entry.name, modifiers), operands.function.module
    return Multiply(
        spaces, Inputs(programs), form.group, line_of(node, operands), node.opcode.text, form, modifiers,
        int(shift or 0), str(module.target or ""),
    )
