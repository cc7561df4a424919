"""The types of expressions, as nvcc 13.5 takes them for the constraints of inline assembly."""

from __future__ import annotations

import pytest

from ptx_lsp.embedded.c_types import evident_type


@pytest.mark.parametrize(
    ("expression", "register"),
    [
        ("sizeof(int)", ".b64"),
        ("threadIdx.x", ".b32"),
        ("&p[1]", ".b64"),
        ("__cvta_generic_to_shared(p)", ".b64"),
        ("(float)p[0]", ".f32"),
        ("static_cast<uint16_t>(p[0])", ".b16"),
        ("static_cast<std::uint32_t>(p[0])", ".b32"),
        ("reinterpret_cast<unsigned const &>(p[0])", ".b32"),
        ("*reinterpret_cast<const float*>(p)", ".f32"),
        ("*(unsigned long long *)p", ".b64"),
        ("(void*)p", ".b64"),
        ("(unsigned char)1", ""),
        ("uint16_t(1)", ".b16"),
        ("float(1)", ".f32"),
        ("__float_as_uint(1.f)", ".b32"),
        ("1", ".b32"),
        ("-1", ".b32"),
        ("0xffffffff", ".b32"),
        ("1ull", ".b64"),
        ("1.0", ".f64"),
        ("1.0f", ".f32"),
    ],
)
def test_evident(expression: str, register: str) -> None:
    found = evident_type(expression)
    assert found is not None
    assert found.register == register


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "p[0]",
        "1l",
        "(long)p",
        "4294967295",
        "(float)x + y",
        "(x) + 1",
        "(x)",
        "(T)x",
        "static_cast<T>(x)",
        "static_cast<int>(x) + y",
        "f(x)",
        "*p",
        "&x + y",
        "sizeof(x) / 2",
        "",
        "(",
        "static_cast<",
    ],
)
def test_not_evident(expression: str) -> None:
    assert evident_type(expression) is None
