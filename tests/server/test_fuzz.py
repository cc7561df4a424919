"""Sessions of random edits and requests, and every request everywhere; `python -m tests.server.fuzz` does
longer ones.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from tests.server.fuzz import Session, Unit, judge_for


@pytest.mark.parametrize(
    ("unit", "seed", "targets"),
    [("utf-8", 1, ()), ("utf-16", 2, ()), ("utf-32", 3, ()), ("utf-8", 4, ("sm_50", "sm_80", "sm_100a"))],
)
def test_random_session(unit: Unit, seed: int, targets: tuple[str, ...], tmp_path: Path) -> None:
    judge_for(targets, tmp_path)
    session = Session(random.Random(seed), unit, tmp_path)
    session.run(1_500)
    assert session.answered > 600


_ALL_KINDS = """\
.version 8.5
.target sm_90
.address_size 64
.file 1 "a.cu"
.extern .func (.param .b32 r) outer(.param .b32 a);
.global .b32 counter;
.global .u64 where = counter;
.shared .align 8 .b8 tile[64];
.global .texref image;
.func (.param .b32 r) inner(.param .b32 a)
{
    .reg .b32 %r<4>;
    .reg .pred %p;
    ld.param.b32 %r1, [a];
    setp.eq.s32 %p, %r1, 0x10;
    @%p bra DONE;
    call (r), inner, (a);
DONE:
    ret;
}
.weak .func alike(.param .b32 a);
.alias alike, inner;
.visible .entry kernel(.param .u64 .ptr .global .align 4 out) .maxntid 64
{
    .reg .b32 %r<4>, single;
    .reg .b64 %rd<4>;
    .reg .f32 %f<5>;
    .loc 1 2 3
    .pragma "nounroll";
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, counter;
    atom.global.add.u32 %r2, [counter], 1;
    st.shared.b32 [tile+4], %r2;
    mov.f32 %f1, 0f3F800000;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [image, {%f1, %f1}];
    targets: .branchtargets AGAIN, END;
AGAIN:
    brx.idx %r1, targets;
    mad.lo.s32 single, %r1, %r2, -5;
    unknown.thing %r1, nowhere;
END:
    exit;
}
"""


def test_every_request_is_answered_at_every_word(tmp_path: Path) -> None:
    session = Session(random.Random(5), "utf-8", tmp_path)
    file = session.open_text(_ALL_KINDS)
    for word in re.finditer(r"[%.\w$]+|\S", _ALL_KINDS):
        for method in session.methods:
            session.ask_at(file, method, word.start() + 1)
        session.wait_for_all()
    assert session.connection.stop() == 0
