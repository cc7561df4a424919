"""Problems of the descriptors of a `tcgen05.mma` (PTX ISA, "Matrix Shape" and "Transpose and Negate
operations").
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.executor.tensor_memory.instruction_descriptor import InstructionDescriptor
from ptx_lsp.executor.tensor_memory.shared_descriptor import SharedDescriptor

_ATOMS_OF_32 = 1


def problems(found: InstructionDescriptor, *, shifts: bool) -> Iterator[str]:
    """Problems of the instruction descriptor; `shifts` is `.ashift`."""
    kind = found.form.kind
    for side, type in (("D", found.d_type), ("A", found.a_type), ("B", found.b_type)):
        if not type:
            yield f"`{kind}` has no type for {side} with the code in the instruction descriptor"
    if found.d_type == ".f16" and ".bf16" in (found.a_type, found.b_type):
        yield "D of type .f16 requires A and B of type .f16"
    if found.is_sparse != found.form.sparse:
        has = "says that A is sparse" if found.is_sparse else "says that A is dense"
        opcode = "has `.sp`" if found.form.sparse else "does not have `.sp`"
        yield f"the instruction descriptor {has}, but the opcode {opcode}"
    yield from _shape(found)
    if found.reserved:
        yield f"reserved bits of the instruction descriptor must be 0, not {found.reserved:#x}"
    if kind == ".kind::i8" and (found.negates_a or found.negates_b):
        yield "integers cannot be negated"
    if found.saturates and kind != ".kind::i8":
        yield "only `.kind::i8` saturates"
    if shifts and found.m not in (128, 256):
        yield f"`.ashift` requires an M of 128 or 256, not {found.m}"
    if kind == ".kind::mxf4" and found.scale_type != ".ue8m0":
        yield "`.kind::mxf4` requires scales of type .ue8m0"
    if kind == ".kind::mxf8f6f4" and found.scale_type != ".ue8m0":
        yield "`.kind::mxf8f6f4` requires scales of type .ue8m0"
    if kind in (".kind::i8", ".kind::f8f6f4") and found.is_sparse and found.selector:
        yield f"the sparsity selector must be 0 with `{kind}`"


def layout_problems(found: InstructionDescriptor, side: str, matrix: SharedDescriptor) -> Iterator[str]:
    """Problems of the descriptor of A or B in shared memory."""
    if problem := matrix.problem():
        yield f"{side}: {problem}"
        return
    type, transposed = (
        (found.a_type, found.transposes_a) if side == "A" else (found.b_type, found.transposes_b)
    )
    if not transposed:
        return
    if found.form.is_packed or type in (".e2m3", ".e3m2", ".e2m1"):
        yield f"{side} of type {type} cannot be transposed"
    elif matrix.is_absolute:
        yield f"{side}: an absolute leading dimension requires a matrix that is not transposed"
    elif (type == ".tf32") != (matrix.code == _ATOMS_OF_32):
        only = "only" if type == ".tf32" else "not"
        yield f"{side} of type {type} can be transposed {only} with 128-byte swizzling with atoms of 32 bytes"


def _shape(found: InstructionDescriptor) -> Iterator[str]:
    form, m, n = found.form, found.m, found.n
    name = f"`{form.kind}`" + (" with `.ws`" if form.stationary else "")
    rows = _rows(found)
    if m not in rows:
        choice = " or ".join(str(one) for one in rows)
        yield f"{name} with `.cta_group::{form.group}` requires an M of {choice}, not {m}"
    if form.stationary:
        if n not in ((64, 128) if form.sparse else (64, 128, 256)):
            yield f"{name} requires an N of 64, 128{'' if form.sparse else ' or 256'}, not {n}"
        return
    step = 8 * form.group
    if form.kind == ".kind::i8" and (form.group == 2 or n > 32):
        step = 16 * form.group
    if found.transposes_b and found.b_type in (".e4m3", ".e5m2", ".s8", ".u8"):
        step = max(step, 16 * form.group)
    if not step <= n <= 256 or n % step:
        yield (
            f"{name} with `.cta_group::{form.group}` requires an N from {step} to 256 in steps of {step}, not"
            f" {n}"
        )


def _rows(found: InstructionDescriptor) -> tuple[int, ...]:
    form = found.form
    if form.stationary:
        return (32, 64, 128)
    if form.group == 1:
        return (128,) if form.is_scaled else (64, 128)
    if form.is_scaled and (form.sparse or found.k == 96):
        return (256,)
    return (128, 256)
