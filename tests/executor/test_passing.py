"""Arguments and results of calls: every kind of parameter, called in every way.

Each function gives back what it is given, and each thread passes other bits.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import launch
from ptx_lsp.isa.types import TYPES

HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
THREADS = 40


class Kind(NamedTuple):
    """A register or a variable: its type, and how many elements it has."""

    type: str
    length: int = 1

    @property
    def bits(self) -> int:
        return TYPES[self.type].width * self.length

    def declared(self, name: str, space: str = ".reg") -> str:
        if space == ".param" and self.length > 1:
            return f".param .align 16 {self.type} {name}[{self.length}]"
        return f"{space} {f'.v{self.length} ' if self.length > 1 else ''}{self.type} {name}"

    def elements(self, name: str) -> list[str]:
        return [f"{name}.{axis}" for axis in "xyzw"[: self.length]] if self.length > 1 else [name]

    def move(self, into: str, of: str) -> str:
        pairs = zip(self.elements(into), self.elements(of), strict=True)
        opcode = "cvt.u8.u8" if self.bits // self.length == 8 else f"mov{self.raw}"
        return " ".join(f"{opcode} {d}, {a};" for d, a in pairs)

    @property
    def raw(self) -> str:
        return ".pred" if self.type == ".pred" else f".b{TYPES[self.type].width}"

    def loaded(self, name: str) -> str:
        if self.type == ".pred":
            return f"ld.global.u8 %n, [%p]; setp.ne.u32 {name}, %n, 0;"
        vector = f".v{self.length}" if self.length > 1 else ""
        return f"ld.global{vector}{self.raw} {name}, [%p];"

    def stored(self, name: str) -> str:
        if self.type == ".pred":
            return f"selp.u32 %n, 1, 0, {name}; st.global.u8 [%o], %n;"
        vector = f".v{self.length}" if self.length > 1 else ""
        return f"st.global{vector}{self.raw} [%o], {name};"


SCALARS = [Kind(one) for one in (
    ".pred", ".b8", ".u8", ".b16", ".s16", ".f16", ".b32", ".u32", ".f32", ".b64", ".s64", ".f64", ".b128",
)]
VECTORS = [
    Kind(type, count)
    for type, count in product((".b8", ".b16", ".u32", ".f32", ".f64"), (2, 4))
    if TYPES[type].width * count <= 128
]
WAYS = ("in place", "recursive", "by address")
PAIRS = [
    (formal, actual) for formal in (*SCALARS, *VECTORS) for actual in (*SCALARS, *VECTORS)
    if formal.bits == actual.bits and (formal == actual or 1 < formal.length + actual.length != 2)
]
"""What ptxas takes: as many bits."""


def in_registers(formal: Kind, actual: Kind, way: str) -> str:
    """Parameters in registers."""
    returns, parameters = formal.declared("r"), f"{formal.declared('a')}, .reg .b32 n"
    body = formal.move("r", "a")
    if way == "recursive":
        body = f"""
            .reg .pred q; .reg .b32 m; {formal.declared('other')}; setp.eq.u32 q, n, 0; @q bra last;
            sub.u32 m, n, 1; call (other), f, (a, m); {formal.move('r', 'other')} bra end;
            last: {body} end:"""
    return _kernel(
        f".func ({returns}) f({parameters}) {{ {body} ret; }}",
        f"{actual.declared('x')}; {actual.declared('y')}; {actual.loaded('x')}"
        f" {_call('y', 'x', formal.declared('_'), formal.declared('_'), way)} {actual.stored('y')}",
    )


def in_memory(formal: Kind, actual: str, way: str) -> str:
    """Parameters in `.param`, for which registers or variables are passed."""
    held = Kind(formal.raw, formal.length)
    width = f".v{formal.length}" if formal.length > 1 else ""
    body = f"ld.param{width}{held.raw} t, [a]; st.param{width}{held.raw} [r], t;"
    if way == "recursive":
        body = f"""
            .reg .pred q; .reg .b32 m; {formal.declared('other', '.param')};
            setp.eq.u32 q, n, 0; @q bra last; sub.u32 m, n, 1;
            {{ {formal.declared('given', '.param')}; ld.param{width}{held.raw} t, [a];
            st.param{width}{held.raw} [given], t; call (other), f, (given, m); }}
            ld.param{width}{held.raw} t, [other]; st.param{width}{held.raw} [r], t; bra end;
            last: {body} end:"""
    function = f"""
        .func ({formal.declared('r', '.param')}) f({formal.declared('a', '.param')}, .reg .b32 n)
        {{ {held.declared('t')}; {body} ret; }}"""
    declared = formal.declared("_", ".param")
    if actual == "register":
        call = _call("y", "x", declared, declared, way)
    else:
        call = f"""{formal.declared('given', '.param')}; {formal.declared('got', '.param')};
            st.param{width}{held.raw} [given], x; {_call('got', 'given', declared, declared, way)}
            ld.param{width}{held.raw} y, [got];"""
    return _kernel(
        function,
        f"{held.declared('x')}; {held.declared('y')}; {held.loaded('x')} {{ {call} }} {held.stored('y')}",
    )


def _call(result: str, argument: str, returns: str, parameter: str, way: str) -> str:
    depth = 3 if way == "recursive" else 0
    if way != "by address":
        return f"call ({result}), f, ({argument}, {depth});"
    return f"""
        mov.u64 %f, f;
        prototype: .callprototype ({returns}) _ ({parameter}, .reg .b32 _);
        call ({result}), %f, ({argument}, {depth}), prototype;"""


def _kernel(function: str, body: str) -> str:
    return HEADER + f"""{function}
.visible .entry k(.param .u64 in, .param .u64 out)
{{ .reg .b64 %p, %o, %f; .reg .b32 %t, %n;
mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; ld.param.u64 %o, [out];
mad.wide.u32 %p, %t, 16, %p; mad.wide.u32 %o, %t, 16, %o;
{body} ret; }}
"""


CASES = [
    *((f"{formal} for {actual}", in_registers(formal, actual, way), formal)
      for formal, actual in PAIRS for way in WAYS),
    *((f"{formal} in memory, {actual}", in_memory(formal, actual, way), formal)
      for formal in SCALARS[1:] for actual in ("register", "variable") for way in WAYS),
    *((f"{formal} in memory", in_memory(formal, "variable", way), formal)
      for formal in VECTORS for way in WAYS),
]


def test_what_is_passed_arrives() -> None:
    chosen = np.random.default_rng(3)
    wrong: list[str] = []
    for name, text, kind in CASES:
        size = max(kind.bits // 8, 1)
        given = chosen.integers(0, 2 if kind.type == ".pred" else 256, (THREADS, 16)).astype(np.uint8)
        found = np.zeros_like(given)
        findings = launch(text, entry="k", grid=1, block=THREADS, args=[given, found], check=True)
        if findings or not np.array_equal(found[:, :size], given[:, :size]):
            wrong.append(f"{name}: {findings}")
    assert wrong == []


@pytest.mark.parametrize("result", [".reg .v4 .u32 r", ".reg .pred r", ".param .align 8 .b8 r[24]"])
@pytest.mark.parametrize("way", WAYS)
def test_results_that_nobody_wants(result: str, way: str) -> None:
    """And nothing else is written where they would be."""
    writes = {
        "v4": "mov.u32 r.w, 9;", "pred": "setp.eq.u32 r, n, n;", "[24]": "st.param.u32 [r+20], 9;",
    }
    body = next(write for name, write in writes.items() if name in result)
    if way == "recursive":
        body += " .reg .pred q; setp.eq.u32 q, n, 0; @!q call (_), f, (0, 0);"
    text = _kernel(
        f".func ({result}) f(.reg .u32 a, .reg .b32 n) {{ {body} ret; }}",
        ".local .align 16 .u32 before; .local .align 16 .u32 behind[8]; .reg .u32 x, y;"
        " st.local.u32 [behind], 7; mov.u32 x, 7;"
        f" {_call('_', 'x', result.replace(' r', ' _'), '.reg .u32 _', way)}"
        " ld.local.u32 y, [behind]; st.global.u32 [%o], y; st.global.u32 [%o+4], x;",
    )
    found = np.zeros((THREADS, 4), np.uint32)
    assert not launch(text, entry="k", grid=1, block=THREADS, args=[found, found], check=True)
    assert (found[:, :2] == 7).all()


def test_ptxas_takes_them() -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    parts = [
        text.removeprefix(HEADER).replace(" f", f" f{at}").replace(" k(", f" k{at}(")
        for at, (_, text, _) in enumerate(CASES)
    ]
    report = ptxas.judge((HEADER + "".join(parts)).encode(), ptxas=judge, arch="compute_90")
    assert report.accepted, report.messages[:3]
