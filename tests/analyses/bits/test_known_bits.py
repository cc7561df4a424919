"""Known bits, against the executor: what is known holds for every value of what is not."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ptx_lsp.analyses.dataflow.known_bits import known_bits
from ptx_lsp.executor import launch
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes
from tests.strength import seeds

HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"
BINARY = ("and.b32", "or.b32", "xor.b32", "add.u32", "add.s32")
SHIFTS = ("shl.b32", "shr.u32", "shr.s32")


def generated(random: Random) -> str:
    """Straight-line code over a few registers, %r0 and %r1 unknown, the result in %r2."""
    lines: list[str] = []
    for _ in range(random.randint(1, 12)):
        d, a, b = (f"%r{random.randrange(6)}" for _ in range(3))
        constant = f"{random.choice((random.getrandbits(32), random.getrandbits(8), 0xFFFF0000)):#x}"
        b = random.choice((b, constant))
        match random.randrange(8):
            case 0 | 1 | 2:
                lines.append(f"{random.choice(BINARY)} {d}, {a}, {b};")
            case 3:
                lines.append(f"{random.choice(SHIFTS)} {d}, {a}, {random.randrange(40)};")
            case 4:
                kind = random.choice("us")
                lines.append(f"bfe.{kind}32 {d}, {a}, {random.randrange(32)}, {random.randrange(33)};")
            case 5:
                lines.append(f"bfi.b32 {d}, {a}, {b}, {random.randrange(32)}, {random.randrange(33)};")
            case 6:
                lines.append(f"mov.b64 %w, {{{a}, {d}}}; shr.u64 %w, %w, {random.randrange(33)};")
                lines.append(f"cvt.u32.u64 {d}, %w;")
            case _:
                types = f"{random.choice('us')}32.{random.choice('us')}16"
                lines.append(f"cvt.{types} {d}, %h; not.b32 {d}, {d};")
                lines.append(f"cvt.u16.u32 %h, {a};")
    return "\n\t".join(lines)


def kernel(body: str) -> str:
    return f"""{HEADER}.visible .entry k(.param .u64 in, .param .u64 out)
{{
	.reg .b32 %r<6>;
	.reg .b16 %h;
	.reg .b64 %w, %in, %out;
	.reg .pred %p;
	ld.param.u64 %in, [in];
	ld.param.u64 %out, [out];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %w, %r2, 8;
	add.u64 %in, %in, %w;
	add.u64 %out, %out, %w;
	ld.global.v2.b32 {{%r0, %r1}}, [%in];
	mov.b32 %r2, 0x1234;
	mov.b32 %r3, -1;
	mov.b32 %r4, 0;
	mov.b32 %r5, 0x80000000;
	mov.b16 %h, 0x8001;
	{body}
	st.global.b32 [%out], %r2;
	ret;
}}
"""


@pytest.mark.parametrize("seed", seeds(20, 60))
def test_against_the_executor(seed: int) -> None:
    random = Random(seed)
    text = kernel(generated(random))
    function = Module.parse(text).definitions["k"]
    store = next(one for one in function.body.instructions if one.opcode.text.startswith("st."))
    found = known_bits(function, store, store.operands[1], 32)
    given = np.array([random.getrandbits(32) for _ in range(62)] + [0, 0xFFFFFFFF], np.uint32)
    out = np.zeros(64, np.uint32)
    launch(text, entry="k", grid=1, block=32, args=[given, out])
    assert {int(one) & found.known for one in out[::2]} == {found.value}


def test_phis_know_what_their_inputs_agree_on() -> None:
    text = kernel("""setp.eq.u32 %p, %r0, 0;
	@%p bra other;
	mov.b32 %r2, 0xff10;
	bra.uni both;
other:
	mov.b32 %r2, 0xff01;
both:
	or.b32 %r2, %r2, 0x10000;""")
    function = Module.parse(text).definitions["k"]
    store = next(one for one in function.body.instructions if one.opcode.text.startswith("st."))
    found = known_bits(function, store, store.operands[1], 32)
    assert (found.value, found.known) == (0x1FF00, 0xFFFFFFEE)


def test_values_of_loops_and_loads_are_unknown() -> None:
    text = kernel("again: add.u32 %r2, %r2, 4; setp.lt.u32 %p, %r2, %r0; @%p bra again;")
    function = Module.parse(text).definitions["k"]
    store = next(one for one in function.body.instructions if one.opcode.text.startswith("st."))
    assert known_bits(function, store, store.operands[1], 32).constant is None
    load = next(one for one in function.body.instructions if one.opcode.text.startswith("ld.global"))
    assert isinstance(load.operands[1], nodes.Address)
    assert not known_bits(function, load, load.operands[1], 64).known
