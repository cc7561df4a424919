"""Problems of the descriptors of a `tcgen05.mma` (PTX ISA, "Matrix Shape" and "Transpose and Negate
operations").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptx_lsp.executor.descriptors.instruction import InstructionDescriptor
from ptx_lsp.executor.descriptors.shared import SharedDescriptor

_ATOMS_OF_32 = 1


def problems(
    found: InstructionDescriptor, modifiers: Collection[str], *, a_in_tensor: bool = False, target: str = ""
) -> Iterator[str]:
    """Problems of the instruction descriptor of an opcode with these modifiers; `a_in_tensor` is whether A is
    in Tensor Memory. A target that is "" has everything.
    """
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
    if found.k == 96 and found.form.sparse:
        yield "a K of 96 requires a dense A"
    if found.reserved:
        yield f"reserved bits of the instruction descriptor must be 0, not {found.reserved:#x}"
    if kind == ".kind::i8" and (found.negates_a or found.negates_b):
        yield "integers cannot be negated"
    if found.saturates and kind != ".kind::i8":
        yield "only `.kind::i8` saturates"
    if ".ashift" in modifiers and found.m not in (128, 256):
        yield f"`.ashift` requires an M of 128 or 256, not {found.m}"
    if found.most_shift and not found.form.stationary:
        yield f"a maximum shift of {found.most_shift} requires `.ws`"
    if a_in_tensor and found.transposes_a:
        yield "A in Tensor Memory cannot be transposed"
    if found.k == 96 and target and not target.startswith("sm_103"):
        yield f"a K of 96 requires sm_103a, not {target}"
    if found.form.is_scaled:
        yield from _scales(found, modifiers)
    if kind in (".kind::i8", ".kind::f8f6f4") and found.is_sparse and found.selector:
        yield f"the sparsity selector must be 0 with `{kind}`"


def _scales(found: InstructionDescriptor, modifiers: Collection[str]) -> Iterator[str]:
    """PTX ISA, "Block Scaling"."""
    kind, scales = found.form.kind, scale_count(found, modifiers)
    if found.scale_type != ".ue8m0" and (kind != ".kind::mxf4nvf4" or scales in (2, 3)):
        size = "" if kind != ".kind::mxf4nvf4" else f" with {scales} scales in a row"
        yield f"`{kind}`{size} requires scales of type .ue8m0"
    steps = {1: 1, 3: 1, 2: 2, 6: 2}.get(scales, 4)
    for side, first in (("A", found.scale_a), ("B", found.scale_b)):
        if first % steps:
            valid = "0" if steps == 4 else "0 or 2"
            yield f"with {scales} scales in a row, the scale factor ID of {side} must be {valid}, not {first}"


def scale_count(found: InstructionDescriptor, modifiers: Collection[str]) -> int:
    """How many scales a row of A or column of B has."""
    if found.k == 96:
        return 6 if ".block16" in modifiers else 3
    if found.form.kind == ".kind::mxf8f6f4":
        return 1
    return 4 if ".scale_vec::4X" in modifiers or ".block16" in modifiers else 2


def layout_problems(
    found: InstructionDescriptor, side: str, matrix: SharedDescriptor, target: str = ""
) -> Iterator[str]:
    """Problems of the descriptor of A or B in shared memory."""
    if problem := matrix.problem():
        yield f"{side}: {problem}"
        return
    if matrix.is_absolute and target and not target.startswith("sm_103"):
        yield f"{side}: an absolute leading dimension requires sm_103a, not {target}"
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
