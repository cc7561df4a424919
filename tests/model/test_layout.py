"""Sizes as ptxas 13.5 tells them.

How they were recorded, at `.version 8.5`, `.target sm_90`, `.address_size 64`: a kernel with these
parameters and one more, `.param .b8 t[40000]`, is refused with "uses too much parameter space (0x...
bytes"; and `ptxas -arch sm_90 -v` tells the `.shared` memory as "bytes smem". `TestAgainstPtxas` asks
again where there is a ptxas.
"""

from __future__ import annotations

import re
import subprocess

import pytest

from ptx_lsp import ptxas
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import (
    alignment_bytes,
    parameter_bytes,
    shared_bytes,
    size_bytes,
)
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Variable

_HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"
_LARGE = ".param .b8 t[40000]"

PARAMETERS = {
    _LARGE: 40000,
    f".param .b8 a, .param .b32 b, {_LARGE}": 40008,
    f".param .b8 a, .param .align 2 .b32 b, {_LARGE}": 40008,
    f".param .b8 a, .param .b64 b, .param .b8 c, {_LARGE}": 40017,
    f".param .align 16 .b8 a[3], .param .b8 c, {_LARGE}": 40004,
    f".param .b8 z, .param .align 16 .b8 a[20], .param .b64 c, {_LARGE}": 40048,
    f".param .b8 z, .param .u64 .ptr .global .align 32 a, {_LARGE}": 40016,
    f".param .b8 a, .param .b128 b, {_LARGE}": 40032,
    f".param .b8 a, .param .f16x2 b[3], {_LARGE}": 40016,
    f".param .b8 a, .param .v2 .b32 b[2], {_LARGE}": 40024,
    f".param .b8 z, .param .align 256 .b8 a[3], {_LARGE}": 40259,
    f"{_LARGE}, .param .align 8 .b8 a[4]": 40004,
    f"{_LARGE}, .param .b8 x[WARP_SZ], .param .b16 y": 40034,
}

_USE = "st.shared.b8 [{}], 1;"
_A, _B, _C, _D = (
    f".shared .align {alignment} .b8 {name}[{size}];"
    for name, alignment, size in (("a", 1, 1), ("b", 4, 6), ("c", 16, 17), ("d", 64, 65))
)

SHARED = {
    ("", ".shared .b32 x[4];", ""): 16,
    ("", ".shared .b8 x[3]; .shared .align 64 .b32 y; .shared .b8 z;", ""): 69,
    ("", ".shared .b8 a; .shared .b64 b; .shared .b8 c; .shared .b64 d;", ""): 32,
    ("", ".shared .b8 a; { .shared .b64 b; } { .shared .b64 c; }", ""): 24,
    ("", ".shared .align 1 .b8 a; .shared .align 1 .b64 d;", ""): 16,
    (_C, _A, "ca"): 33,
    (_C, _A, "c"): 18,
    (_A, _C, "ca"): 18,
    (_A + _C, "", "ca"): 33,
    (_A + _C, "", "c"): 17,
    ("", _A + _C, "c"): 18,
    ("", _C + _A, "a"): 33,
    (_A + _D, _B + _C, "dcba"): 129,
    (_A + _D, _B + _C, "ad"): 161,
    (_A + _D, _B + _C, "adc"): 138,
    (_D + _A, _C + _B, "abcd"): 130,
    (_D + _A, _C + _B, "ad"): 106,
    (".extern .shared .b8 e[];", ".shared .b8 x[3];", "e"): 16,
    (".extern .shared .align 64 .b8 e[];", ".shared .b8 x[3];", "e"): 64,
    (".extern .shared .align 4 .b8 e[];", ".shared .b8 x[30];", "e"): 32,
}


def _parameters(parameters: str) -> str:
    return f"{_HEADER}.visible .entry k({parameters}) {{ ret; }}\n"


def _shared(case: tuple[str, str, str]) -> str:
    module, body, used = case
    uses = " ".join(_USE.format(name) for name in used)
    return f"{_HEADER}{module}\n.visible .entry k() {{ {body} {uses} ret; }}\n"


def _kernel(text: str) -> Function:
    return Module.parse(text).functions[-1]


@pytest.mark.parametrize("parameters", PARAMETERS)
def test_parameters(parameters: str) -> None:
    assert parameter_bytes(_kernel(_parameters(parameters))) == PARAMETERS[parameters]


@pytest.mark.parametrize("case", SHARED)
def test_shared(case: tuple[str, str, str]) -> None:
    assert shared_bytes(_kernel(_shared(case))) == SHARED[case]


@pytest.mark.parametrize(
    ("declaration", "size", "alignment"),
    [
        (".global .b32 x", 4, 4),
        (".global .v4 .f32 x", 16, 16),
        (".global .align 16 .b8 x[3][5]", 15, 16),
        (".global .align 2 .f64 x[2]", 16, 8),
        (".global .u16 x[] = {1, 2, 3}", 6, 2),
        (".global .u16 x[][2] = {{1, 2}, {3}}", 8, 2),
        (".extern .shared .align 8 .b8 x[]", None, 8),
        (".global .texref x", None, None),
    ],
)
def test_variables(declaration: str, size: int | None, alignment: int | None) -> None:
    variable = Module.parse(f"{_HEADER}{declaration};").variables[0]
    assert isinstance(variable, Variable)
    assert (size_bytes(variable), alignment_bytes(variable)) == (size, alignment)


def test_unknown_parameters() -> None:
    assert parameter_bytes(_kernel(_parameters(".param .texref t"))) is None
    assert parameter_bytes(_kernel(_parameters(""))) == 0


class TestAgainstPtxas:
    @pytest.mark.parametrize("parameters", PARAMETERS)
    def test_parameters(self, parameters: str) -> None:
        found = re.search(r"space \(0x([0-9a-f]+) bytes", _said(_parameters(parameters)))
        assert found is not None
        assert int(found[1], 16) == PARAMETERS[parameters]

    @pytest.mark.parametrize("case", SHARED)
    def test_shared(self, case: tuple[str, str, str]) -> None:
        found = re.search(r"(\d+) bytes smem", _said(_shared(case)))
        assert found is not None
        assert int(found[1]) == SHARED[case]


def _said(text: str) -> str:
    path = ptxas.find()
    if path is None:
        pytest.skip("no ptxas here; the recorded values are tested all the same")
    command = [str(path), "-arch", "sm_90", "-v", "-o", "/dev/null", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
    return result.stderr
