"""Used bits, against the executor: a change of bits that are not used changes no result."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ptx_lsp.analyses.dataflow.used_bits import used_bits
from ptx_lsp.analyses.instructions.uses_and_defs import instructions
from ptx_lsp.executor import launch
from ptx_lsp.model.module import Module
from tests.strength import seeds


def generated(random: Random) -> str:
    """Straight-line code over a few registers, and a store of two of them."""
    lines: list[str] = []
    for _ in range(random.randint(1, 12)):
        d, a, b, c = (f"%r{random.randrange(6)}" for _ in range(4))
        w, v = (f"%w{random.randrange(3)}" for _ in range(2))
        half = random.choice(("_", d))
        number = random.choice((f"{random.getrandbits(32):#x}", "255", "0xffff0000", b))
        lines.append(random.choice((
            f"mov.b64 %w0, {{{a}, {b}}};", f"mov.b64 {w}, {{{a}, {b}}};", f"mov.b64 {{{half}, {c}}}, {w};",
            f"mov.b64 {{{c}, _}}, {w};", f"mov.b32 {d}, {a};", f"mov.b64 {w}, {v};",
            f"mov.b32 {{%h0, %h1}}, {a};", f"mov.b32 {d}, {{%h1, %h0}};",
            f"mov.b64 {w}, {{%h0, %h1, %h0, %h1}};",
            f"and.b32 {d}, {a}, {number};", f"and.b64 {w}, {v}, 0xffffffff;", f"or.b32 {d}, {a}, {number};",
            f"xor.b32 {d}, {a}, {number};", f"not.b32 {d}, {a};", f"selp.b32 {d}, {a}, {b}, %p;",
            f"shl.b32 {d}, {a}, {random.choice((*range(40), c))};",
            f"shr.{random.choice('usb')}32 {d}, {a}, {random.choice((*range(40), c))};",
            f"shr.u64 {w}, {v}, {random.randrange(70)};", f"cvt.u32.u64 {d}, {w};", f"cvt.s64.s32 {w}, {a};",
            f"cvt.{random.choice('us')}8.{random.choice('us')}32 {d}, {a};", f"cvt.u16.u32 %h0, {a};",
            f"prmt.b32 {d}, {a}, {b}, {random.getrandbits(16):#x};", f"prmt.b32 {d}, {a}, {b}, {c};",
            f"add.u32 {d}, {a}, {b};", f"@%p mov.b32 {d}, {a};", f"setp.lt.u32 %p, {a}, {number};",
            f"shfl.sync.idx.b32 {d}, {a}, 0, 31, -1;",
        )))
    stored = random.choice(("b8", "b16", "b32"))
    lines.append(f"st.global.{stored} [%out], %r0; st.global.b64 [%out+8], %w1;")
    return "\n".join(lines)


@pytest.mark.parametrize("seed", seeds(30, 200))
def test_unused_bits_change_nothing(seed: int) -> None:
    random = Random(seed)
    text = f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
    .reg .b16 %h<2>;
    .reg .b32 %r<6>, %x;
    .reg .b64 %w<3>, %in, %out;
    .reg .pred %p;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.global.b32 %x, [%in];
    ld.global.v4.b32 {{%r0, %r1, %r2, %r3}}, [%in+16];
    ld.global.v2.b64 {{%w0, %w1}}, [%in+32];
    mov.b64 %w2, {{%x, %r0}};
    mov.b32 {{%h0, %h1}}, %x;
    mov.b32 %r4, %x;
    not.b32 %r5, %x;
    setp.eq.u32 %p, %r0, 0;
    {generated(random)}
    ret;
}}
"""
    kernel = Module.parse(text).definitions["k"]
    names = {one.name: index for index, one in enumerate(instructions(kernel).registers)}
    unused = ~used_bits(kernel, names["%x"]) & 0xFFFFFFFF
    values = np.frombuffer(random.randbytes(48), np.uint32).copy()
    results: list[bytes] = []
    for change in (0, unused, unused & random.getrandbits(32)):
        changed = values.copy()
        changed[0] ^= np.uint32(change)
        out = np.zeros(16, np.uint8)
        launch(text, entry="k", grid=1, block=32, args=[changed, out])
        results.append(out.tobytes())
    assert len(set(results)) == 1, f"{unused:#x}\n{text}"
