"""Which registers fit which instruction types, as ptxas 13.5 judged them."""

from __future__ import annotations

import pytest

from ptx_lsp.isa.types import TYPES, fits, fits_wider, twice

DECLARABLE = [type for type in TYPES.values() if type.declarable and type.name != ".b128"]


@pytest.mark.parametrize(
    ("wanted", "registers"),
    [
        (".s32", ".b32 .u32 .s32 .f16x2"),
        (".u16", ".b16 .u16 .s16"),
        (".s64", ".b64 .u64 .s64"),
        (".f32", ".b32 .f32"),
        (".f64", ".b64 .f64"),
        (".b32", ".b32 .u32 .s32 .f32 .f16x2"),
        (".b16", ".b16 .u16 .s16 .f16"),
        (".f16", ".b16 .f16"),
        (".f16x2", ".b32 .f16x2"),
        (".bf16", ".b16"),
        (".bf16x2", ".b32"),
        (".ue8m0x4", ".b32"),
        (".u16x2", ".b32 .f16x2"),
        (".f32x2", ".b64"),
        (".pred", ".pred"),
    ],
)
def test_fits(wanted: str, registers: str) -> None:
    found = {register.name for register in DECLARABLE if fits(register, TYPES[wanted])}
    assert found == set(registers.split())


@pytest.mark.parametrize(
    ("wanted", "register", "fit"),
    [
        (".u8", ".u32", True),
        (".s16", ".b64", True),
        (".u32", ".u16", False),
        (".u16", ".f32", False),
        (".b16", ".f32", True),
        (".f32", ".f64", False),
        (".f32", ".b64", True),
        (".pred", ".b32", False),
    ],
)
def test_fits_wider(wanted: str, register: str, fit: bool) -> None:
    assert fits_wider(TYPES[register], TYPES[wanted]) is fit


def test_twice() -> None:
    assert twice(TYPES[".s16"]) is TYPES[".s32"]
    assert twice(TYPES[".u64"]) is None
