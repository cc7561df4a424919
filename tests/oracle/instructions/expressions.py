"""Constant expressions, names and elements in every place of an operand, and initial values.

    python -m tests.oracle.instructions.expressions        replay the record, print where the linter differs
    python -m tests.oracle.instructions.expressions --update  judge by ptxas anew, write the record

The record, `verdicts/expressions.txt`, has a line for each place and verdict: `+` accepted, `-` rejected, `!`
where ptxas breaks down, then the expressions with tabs between them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ptx_lsp import ptxas
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.module import Module
from tests.oracle.instructions.judge import VERDICTS

RECORD = VERDICTS / "expressions.txt"
ARCH = "compute_90"

_CONSTANTS = """
    1 -1 4/2 4/0 4%0 4_%_0 4_%_2 1?4/0:2 0?4/0:2 0&&4/0 0*(1/0) 1/(1-1) 4_%_(2-2) 0_/_0 WARP_SZ/0
    1/(.s64)0 1/(1<<64) 1/((1<<64)-1) 1/(-1/2) 1/(-1U/2) 1/((-1_%_2)+1) 1/((-1_%_2)-1) 1/((-1>>63)+1)
    1/((-1U>>63)+1) 1/(-1<1U) 1/((~0)/2) 1/(((1<2)-2)/2) 1/(((1U|0)-2)/2) 1/(((1?1:1U)-2)/2) 1/((1<<1U)-2)
    1/(0b11-3) 1/(010-8) (.u32)5 (.s32)5 (.s64)5 (.u64)5 (.b64)5 (.f64)5 (.u64)1.5 (.s64)1.5 (.s64)(5)
    (.s64)5+1 (.s64)-5 -(.s64)5 (.pred)1 (.foo)1 (.s64)x (.s64)WARP_SZ 1.5 1.5+1.5 1.5+1 1+1.5 5/2.0
    5.0/0.0 5.0/2.0 1.5<2.5 1<2.5 !1 !1.5 ~1.5 ~1 -1.5 +1 +1.5 --5 -_-5 (1) ((1)) (1.5) (1+2)*3 1?2:3
    1?1.0:2.0 1.0?1:2 1?2:3.0 1U?2:3 1<<100 1<<-1 1>>100 1.0<<2 1&1.0 1.0&&1 1.0&&1.0 1&&0 1||0 1.0||0
    1==1.0 1.0==1.0 1_!=_2 1^2 1.0^2.0 5.0_%_2.0 5_%_3 5%3 5%_3 99999999999999999999999
    0xfffffffffffffffff 1e400 1e-400 0e-400 0f3f800000 0f3f800000+1.0 1.0+0f3f800000 -0f3f800000
    (0f3f800000) 0d3ff0000000000000 1.0+0d3ff0000000000000 -0d3ff0000000000000 WARP_SZ WARP_SZ+1 -WARP_SZ
    !WARP_SZ 1+WARP_SZ (WARP_SZ) WARP_SZ[1] WARP_SZ.x WARP_SZ?1:2 WARP_SZ-1 3_=_3 1, {1} 1_2 () (1,2) 1:2
    ? 1?2 % $ 0x 08 1.5f "abc"
"""
_NAMES = """
    x x+4 x+4/0 x-4 x+-4 x+(1+2) x+(1.5) x+1.5 x+1.5<2.5 x+(.s64)4 x+(.u32)4 4+x x+x x*2 (x) -x x+WARP_SZ
    x+4*2 x+4+4 x+4-4 x+!4 x+~4 x+"a" %r1+4 %tid.x+4 zz zz+1 -%r1 !%p1 (%r1) [x] _ x[1] x[1+1] x[4/0]
    x[%r1] x[1.5] x[%r1+4] x[%r1+1.5] x[%r1+4/0] x[(1)] x[1][2] q[1] garr[1] %r1[1] %rd1[1] zz[1] x[zz]
    x[x] x[-1] x[WARP_SZ] x[%r1*4] x[%rd1] x[%f1] x[%p1] x[%tid.x] x[%tid] x[q] x[v.x] x[] x[(%r1)] x[!1]
    x[1?2:3] x[(.u32)1] x[1]+4 x[1]-4 x[1].x generic(x) mask(x) 0xFF(x) foo(1) x(1) 1(2)
"""
_VALUES = """
    generic(x) generic(x)+4 generic(x+4) generic() generic(x,x) generic(generic(x)) generic(1) Generic(x)
    0xFF(x) 0xFF(1) 0xFF(WARP_SZ) 0xFF(x+4) 0xFE(x) 0xFF(generic(x)) fn fn+4 generic(fn) {1} {} {1,2}
    {{1}} {foo(1),2} {unknown_(1),2} {[0]=1}
"""
PLACES = {
    "integer": "mov.u64 %rd1, {};",
    "float": "mov.f64 %fd1, {};",
    "address": "ld.shared.u32 %r1, [{}];",
    "offset": "ld.global.u32 %r1, [%rd1+{}];",
    "operand": "ld.shared.u32 %r1, {};",
    "value": "st.shared.u32 [x], {};",
    "element": "st.shared.v2.u64 [x], {{%rd1, {}}};",
    "target": "ld.shared.v2.u32 {{%r1, {}}}, [x];",
    "argument": "call (pr), fn, ({});",
    "immediate": "cp.async.cg.shared.global [x], [%rd1], {};",
    "addend": "add.u64 %rd1, %rd1, {};",
    ".b32": ".global .b32 y = {};",
    ".u64": ".global .u64 y = {};",
    ".f64": ".global .f64 y = {};",
    ".b32[2]": ".global .b32 y[2] = {{{}, 1}};",
}
_HEAD = """\
.version 9.5
.target sm_90
.address_size 64
.global .b32 garr[8];
.func (.param .b32 r) fn (.param .b32 a) {{ ret; }}
.entry kernel()
{{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    .reg .f64 %fd<4>;
    .reg .pred %p<4>;
    .reg .v4 .b32 v;
    .{space} .align 16 .b32 x[8];
    .shared .b32 q;
    .param .b32 pr;
"""


class Verdict(NamedTuple):
    """What ptxas says of an expression at a place; None where it breaks down."""

    place: str
    expression: str
    accepted: bool | None


def expressions(place: str) -> tuple[str, ...]:
    """In the lists above `_` stands for a blank, but alone."""
    text = _CONSTANTS + _NAMES + (_VALUES if place.startswith(".") else "")
    return tuple(one if one == "_" or "WARP_SZ" in one else one.replace("_", " ") for one in text.split())


def recorded() -> Iterator[Verdict]:
    for line in RECORD.read_text().splitlines():
        head, *found = line.split("\t")
        place, _, mark = head.rpartition(" ")
        for expression in found:
            yield Verdict(place, expression, {"+": True, "-": False}.get(mark))


def judged(tool: Path, place: str, expression: str) -> bool | None:
    try:
        return ptxas.judge(_file(place, expression).encode(), ptxas=tool, arch=ARCH).accepted
    except ptxas.PtxasError:
        return None


def linted(place: str, expression: str) -> bool:
    """Whether the linter accepts it."""
    found = LintSession(Module.parse(_file(place, expression))).diagnostics
    return all(one.severity != "error" for one in found)


def differing(place: str) -> list[Verdict]:
    """The recorded verdicts on a place that the linter does not agree with."""
    return [
        one
        for one in recorded()
        if one.place == place
        and one.accepted is not None
        and linted(place, one.expression) != one.accepted
    ]


def _file(place: str, expression: str) -> str:
    head = _HEAD.format(space="global" if place.startswith(".") else "shared")
    return f"{head}    {PLACES[place].format(expression)}\n    ret;\n}}\n"


def _update() -> None:
    tool = ptxas.find()
    if tool is None:
        raise FileNotFoundError("no ptxas at hand")
    rows: list[str] = []
    for place in PLACES:
        by_mark: dict[str, list[str]] = {"+": [], "-": [], "!": []}
        for expression in expressions(place):
            verdict = judged(tool, place, expression)
            by_mark["!" if verdict is None else "+" if verdict else "-"].append(expression)
        rows += ["\t".join([f"{place} {mark}", *found]) for mark, found in by_mark.items() if found]
    RECORD.write_text("\n".join([*rows, ""]))


if __name__ == "__main__":
    if "--update" in sys.argv:
        _update()
    for place in PLACES:
        for one in differing(place):
            print(one)
