"""Launches that do not fit the kernel or the hardware end in one clear line, never in a guess."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.parameters import Value

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
PARAMETERS = ".param .u32 n, .param .f32 a, .param .u64 p"
STORE = """
    .reg .b32 %n; .reg .b64 %p;
    ld.param.u32 %n, [n]; ld.param.u64 %p, [p]; st.global.u32 [%p], %n;
"""


def _kernel(body: str = STORE, before: str = "") -> str:
    return f"{HEAD}{before}.entry k({PARAMETERS}) {{ {body} ret; }}\n"


def _fails(kind: str, words: str, text: str = "", **options: object) -> None:
    launch_any = cast("Callable[..., None]", launch)  # what is wrong on purpose is not typed
    given = {"args": [1, 2.0, np.zeros(4, np.uint32)], "grid": 1, "block": 1, **options}
    with pytest.raises(ExecutionError, match=words) as raised:
        launch_any(text or _kernel(), entry="k", **given)
    assert raised.value.kind == kind
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("argument", "words"), [
    (None, "argument 0 is of type `NoneType`, which does not fit `n`, `.u32`"),
    (1.5, "type `float`, which does not fit"),
    (1 << 32, "4294967296, which `n` of 4 bytes cannot hold"),
    (-(1 << 31) - 1, "cannot hold"),
    (np.float64(1), "argument 0 has 8 bytes, `n` 4"),
])
def test_a_value_that_does_not_fit(argument: object, words: str) -> None:
    _fails("launch", words, args=[argument, 2.0, np.zeros(4, np.uint32)])


@pytest.mark.parametrize(("array", "words"), [
    (np.zeros(8, np.uint32)[::2], "not in one piece"),
    (np.array([None]), "Python objects"),
    (np.zeros(4, ">u4"), "another byte order"),
])
def test_an_array_that_cannot_be_a_buffer(array: object, words: str) -> None:
    _fails("launch", words, args=[1, 2.0, array])


@pytest.mark.parametrize(("options", "words"), [
    ({"grid": "1"}, "the grid has one to three sizes"),
    ({"grid": (1, 65536)}, "the grid is at most"),
    ({"grid": (1 << 31) - 1 + 1}, "the grid is at most"),
    ({"grid": (1 << 20, 1 << 13)}, "larger than can be run here"),
    ({"block": (1, 1, 65)}, "the block is at most"),
    ({"block": (32, 33)}, "a block has at most 1024 threads, not 1056"),
    ({"shared_bytes": -1}, "-1 bytes of shared memory"),
    ({"shared_bytes": 1 << 20}, "bytes of shared memory are more than any device has"),
])
def test_a_shape_that_no_device_has(options: dict[str, object], words: str) -> None:
    _fails("launch", words, "", **options)


def test_variables_that_are_too_large() -> None:
    _fails("launch", "`g` of 99999999999999 bytes", _kernel(before=".global .b8 g[99999999999999];\n"))
    _fails("launch", "bytes of local memory", _kernel(".local .b8 x[99999999999];"))


def test_too_many_initial_values() -> None:
    body = ".reg .b32 %r; ld.global.u32 %r, [g];"
    _fails("unsupported", "`g`", _kernel(body, ".global .u32 g[2] = {1, 2, 3};\n"))


def test_a_register_that_is_not_declared() -> None:
    _fails("unsupported", "`%r2` is not declared", _kernel(".reg .b32 %r1; add.u32 %r1, %r2, 1;"))


def test_a_huge_grid_costs_nothing_before_it_runs() -> None:
    _fails("limit", "more seconds", _kernel("L: bra L;"), grid=(1 << 31) - 1, seconds=0.01)


def test_numbers_of_every_kind() -> None:
    result = np.zeros(1, np.uint32)
    for number in (-1, np.uint32(0xFFFFFFFF), np.array(0xFFFFFFFF, ">u4")[()], b"\xff" * 4):
        result[:] = 0
        grid = cast("int", np.int64(1))
        launch(_kernel(), entry="k", grid=grid, block=1, args=[number, 1, result])
        assert result[0] == 0xFFFFFFFF


def test_text_of_one_line() -> None:
    value: Value = np.zeros(1, np.uint32)
    launch(_kernel().replace("\n", " "), entry="k", grid=1, block=1, args=[1, 2.0, value])
    assert value[0] == 1
