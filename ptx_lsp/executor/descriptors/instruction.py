"""The 32-bit instruction descriptors of `tcgen05.mma` (PTX ISA, "Instruction descriptor")."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ptx_lsp.executor.descriptors.field import Field, choice, constant, count, flag

_FLOATS = {0: ".e4m3", 1: ".e5m2", 3: ".e2m3", 4: ".e3m2", 5: ".e2m1"}
_TYPES: dict[str, dict[int, str]] = {
    ".kind::tf32": {2: ".tf32"},
    ".kind::f16": {0: ".f16", 1: ".bf16"},
    ".kind::f8f6f4": _FLOATS,
    ".kind::i8": {0: ".u8", 1: ".s8"},
    ".kind::mxf8f6f4": _FLOATS,
    ".kind::mxf4": {1: ".e2m1"},
    ".kind::mxf4nvf4": {1: ".e2m1"},
}
"""Of A and B, by kind and code."""
_SUMS: dict[str, dict[int, str]] = {
    ".kind::tf32": {1: ".f32"},
    ".kind::f16": {0: ".f16", 1: ".f32"},
    ".kind::f8f6f4": {0: ".f16", 1: ".f32"},
    ".kind::i8": {2: ".s32"},
}
_DEPTHS = {".kind::tf32": 8, ".kind::f16": 16, ".kind::mxf4": 64, ".kind::mxf4nvf4": 64}
_PACKED = (".kind::mxf4", ".kind::mxf4nvf4")


@dataclass(frozen=True)
class Form:
    """The properties given by the opcode: the kind, whether A is sparse, whether B stays in the collector
    (`.ws`), and how many blocks take part (1 or 2).
    """

    kind: str
    sparse: bool
    stationary: bool
    group: int

    @classmethod
    def of(cls, name: str, modifiers: Iterable[str]) -> Form:
        """From the name of the row and the modifiers."""
        kind = next(one for one in modifiers if one.startswith(".kind::"))
        words = name.split(".")
        return cls(kind, "sp" in words, "ws" in words, 2 if ".cta_group::2" in modifiers else 1)

    @property
    def is_scaled(self) -> bool:
        return self.kind.startswith(".kind::mx")

    @property
    def is_packed(self) -> bool:
        """Whether two elements of 4 bits share a byte."""
        return self.kind in _PACKED


@dataclass(frozen=True)
class InstructionDescriptor:
    """The fields of a descriptor. Types that are not valid are ""."""

    form: Form
    m: int
    n: int
    k: int
    d_type: str
    a_type: str
    b_type: str
    negates_a: bool
    negates_b: bool
    transposes_a: bool
    transposes_b: bool
    is_sparse: bool
    selector: int
    """Of the metadata."""
    saturates: bool
    scale_type: str
    scale_a: int
    """The number of the first byte of a scale of A."""
    scale_b: int
    most_shift: int
    reserved: int
    """The reserved bits that are set."""

    @classmethod
    def of(cls, word: int, form: Form) -> InstructionDescriptor:
        kind = form.kind
        depth = _DEPTHS.get(kind, 32) * (2 if form.sparse else 1)
        types = _TYPES[kind]
        n, a_type = (word >> 17 & 0x3F) << 3, types.get(word >> 7 & 7, "")
        signs = bool(word >> 13 & 1), bool(word >> 14 & 1), bool(word >> 15 & 1), bool(word >> 16 & 1)
        is_sparse = bool(word >> 2 & 1)
        if not form.is_scaled:
            return cls(
                form, (word >> 24 & 0x1F) << 4, n, depth, _SUMS[kind].get(word >> 4 & 3, ""), a_type,
                types.get(word >> 10 & 7, ""), *signs, is_sparse, word & 3, bool(word >> 3 & 1), "", 0, 0,
                (0, 8, 16, 32)[word >> 30], word & (1 << 6 | 1 << 23 | 1 << 29),
            )
        b_type = types.get(word >> 10 & (3 if form.is_packed else 7), "")
        reserved = 0b1001011 | 7 << 24
        if form.is_packed:
            depth = 96 if word >> 31 else depth
            reserved |= 1 << 12
        else:
            reserved |= 1 << 31
        return cls(
            form, (word >> 27 & 3) << 7, n, depth, ".f32", a_type, b_type, *signs, is_sparse, 0, False,
            ".ue8m0" if word >> 23 & 1 else ".ue4m3", word >> 29 & 3, word >> 4 & 3, 0, word & reserved,
        )

    def text(self) -> str:
        """The fields in words."""
        parts = [
            f"m{self.m}n{self.n}k{self.k}",
            f"D {self.d_type or 'of an invalid type'}",
            _operand("A", self.a_type, self.negates_a, self.transposes_a),
            _operand("B", self.b_type, self.negates_b, self.transposes_b),
        ]
        if self.is_sparse:
            parts.append("A sparse" + (f", selector {self.selector}" if self.selector else ""))
        if self.saturates:
            parts.append("saturated")
        if self.form.is_scaled:
            parts.append(f"scales {self.scale_type} (A from byte {self.scale_a}, B from byte {self.scale_b})")
        if self.most_shift:
            parts.append(f"shift of at most {self.most_shift}")
        return ", ".join(parts)


def _operand(name: str, type: str, negated: bool, transposed: bool) -> str:
    text = f"{'-' if negated else ''}{name} {type or 'of an invalid type'}"
    return f"{text} transposed" if transposed else text


_SPARSITY = Field("A", 2, 1, flag("sparse", "dense"))
_SHIFTS = {0: "none", 1: "8 columns", 2: "16 columns", 3: "32 columns"}
_SCALES = {0: ".ue4m3", 1: ".ue8m0"}


def fields(form: Form) -> tuple[Field, ...]:
    """The fields of a descriptor for a form."""
    types = choice(_TYPES[form.kind])
    common = (
        Field("negate A", 13, 1, flag("yes")), Field("negate B", 14, 1, flag("yes")),
        Field("transpose A", 15, 1, flag("yes")), Field("transpose B", 16, 1, flag("yes")),
        Field("N", 17, 6, count("", 8)),
    )
    if not form.is_scaled:
        return (
            Field("sparsity selector", 0, 2), _SPARSITY, Field("saturate", 3, 1, flag("yes")),
            Field("type of D", 4, 2, choice(_SUMS[form.kind])), _reserved(6, 1),
            Field("type of A", 7, 3, types), Field("type of B", 10, 3, types), *common, _reserved(23, 1),
            Field("M", 24, 5, count("", 16)), _reserved(29, 1),
            Field("maximum shift of B", 30, 2, choice(_SHIFTS)),
        )
    packed = form.is_packed
    last = Field("K", 31, 1, flag("96", "128" if form.sparse else "64")) if packed else _reserved(31, 1)
    return (
        _reserved(0, 2), _SPARSITY, _reserved(3, 1), Field("scale factor ID of B", 4, 2), _reserved(6, 1),
        Field("type of A", 7, 3, types), Field("type of B", 10, 2 if packed else 3, types),
        *((_reserved(12, 1),) if packed else ()), *common, Field("type of scales", 23, 1, choice(_SCALES)),
        _reserved(24, 3), Field("M", 27, 2, count("", 128)), Field("scale factor ID of A", 29, 2), last,
    )


def _reserved(first: int, width: int) -> Field:
    return Field("reserved", first, width, constant(0, width))
