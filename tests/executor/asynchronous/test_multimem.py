"""Multimem memory of several GPUs; tests/conformance has the instructions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp.executor import ExecutionError, Multimem, launch
from ptx_lsp.executor.launching.object_specs import argument, array_of
from ptx_lsp.executor.launching.specs import SpecError

_HEAD = """.version 9.0
.target sm_100a
.address_size 64
.entry k(.param .u64 x, .param .u64 y) {
.reg .u64 %x, %y; .reg .u32 %t, %r<4>;
ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; mov.u32 %t, %tid.x;
mul.wide.u32 %x, %t, 4; ld.param.u64 %y, [x]; add.u64 %x, %x, %y; ld.param.u64 %y, [y];
"""


Memory = Multimem | npt.NDArray[np.uint32]


def run(body: str, x: Memory, y: Memory, threads: int = 64) -> None:
    launch(f"{_HEAD}{body}\nret;\n}}\n", entry="k", grid=1, block=threads, args=[x, y])


@pytest.mark.parametrize("gpus", [1, 2, 5])
def test_many_threads(gpus: int) -> None:
    """Each thread stores what its elements are together to all GPUs, and adds its number."""
    array = np.arange(64 * gpus, dtype=np.uint32).reshape(gpus, 64)
    total = array.sum(axis=0, dtype=np.uint32)
    run("""multimem.ld_reduce.weak.global.add.u32 %r0, [%x];
multimem.st.weak.global.u32 [%x], %r0;
multimem.red.global.add.u32 [%x], %t;""", Multimem(array), np.zeros(1, np.uint32))
    assert (array == total + np.arange(64)).all()


def test_lanes_apart_and_two_arguments() -> None:
    x, y = np.zeros((2, 64), np.uint32), np.ones((2, 64), np.uint32)
    run("""setp.lt.u32 %p, %t, 32; add.u64 %y, %y, 128; selp.b64 %x, %x, %y, %p;
and.b32 %r1, %t, 1; setp.eq.u32 %p, %r1, 1;
@%p multimem.red.global.add.u32 [%x], 7;""".replace("setp.lt", ".reg .pred %p; setp.lt", 1),
        Multimem(x), Multimem(y))
    assert (x == np.where((np.arange(64) < 32) & (np.arange(64) % 2 == 1), 7, 0)).all()
    assert y[:, 32].tolist() == [1 + 16 * 7] * 2
    assert np.delete(y, 32, axis=1).all()


def wrong(body: str, x: Memory, y: Memory) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        run(body, x, y, 1)
    return caught.value


def test_what_is_wrong() -> None:
    two, three = Multimem(np.zeros((2, 4), np.uint32)), Multimem(np.zeros((3, 4), np.uint32))
    plain = np.zeros(4, np.uint32)
    store = "multimem.st.weak.global.u32 [%y], %t;"
    error = wrong(store, two, plain)
    assert (error.kind, error.line, len(error.lanes)) == ("out-of-bounds", 8, 1)
    assert "is outside all multimem memory in" in str(error)
    inner = "`argument 1 of GPU 0`, of 16 bytes, at offset 12"
    for offset, name in ((16, "all multimem memory"), (12, inner)):
        wide = f"add.u64 %y, %y, {offset};\nmultimem.st.weak.global.b64 [%y], 0;"
        assert f"is outside {name}" in str(wrong(wide, plain, two))
    assert "multimem memory of 2 and 3 GPUs" in str(wrong(store, two, three))
    assert "requires a non-empty row for each GPU" in str(wrong(store, plain, Multimem(plain)))
    small = wrong("multimem.ld_reduce.weak.global.add.acc::f16.e4m3x4 %r0, [%x];", two, plain)
    assert small.kind == "unsupported"


def test_values_as_text() -> None:
    found = array_of(argument("multimem(u32:arange(6),gpus=2)"))
    assert found is not None
    assert found.tolist() == [[0, 1, 2], [3, 4, 5]]
    for text, message in (
        ("multimem(u32:arange(6))", "expected `gpus=N` after the buffer"),
        ("multimem(u32:arange(6),gpus=4)", "6 elements cannot be divided evenly among 4 GPUs"),
        ("multimem(u32:6,gpus=1)", "`u32:6` is a value, not a buffer"),
    ):
        with pytest.raises(SpecError, match=message):
            argument(text)
