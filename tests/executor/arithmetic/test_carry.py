"""Chains of extended-precision instructions are arithmetic on long integers, whatever the type."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ptx_lsp.executor import launch

COUNT = 200
CHAINS = {
    "add": "add.cc.T %r0, %a0, %b0; addc.cc.T %r1, %a1, %b1; addc.T %r2, %a2, %b2;",
    "sub": "sub.cc.T %r0, %a0, %b0; subc.cc.T %r1, %a1, %b1; subc.T %r2, %a2, %b2;",
    "mad": """
        mad.lo.cc.U %r0, %a0, %b0, %a1; madc.hi.cc.U %r1, %a0, %b0, %b1; addc.T %r2, %a2, %b2;
    """,
}


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("sign", ["u", "s"])
@pytest.mark.parametrize("name", list(CHAINS))
def test_chain(name: str, sign: str, bits: int) -> None:
    chosen = random.Random(name + sign)
    edges = [0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1]
    rows = [
        [chosen.choice([*edges, chosen.getrandbits(bits)]) for _ in range(6)] for _ in range(COUNT)
    ]
    found = _run(CHAINS[name].replace(".T", f".{sign}{bits}").replace(".U", f".u{bits}"), rows, bits)
    for row, limbs in zip(rows, found, strict=True):
        a, b = _joined(row[:3], bits), _joined(row[3:], bits)
        if name == "mad":
            total = row[0] * row[3] + row[1] + (row[4] << bits) + (row[2] + row[5] << 2 * bits)
        else:
            total = a + b if name == "add" else a - b
        assert _joined(limbs, bits) == total % (1 << 3 * bits), [hex(one) for one in row]


@pytest.mark.parametrize("seed", range(4))
def test_additions_and_subtractions_in_one_chain(seed: int) -> None:
    """The carry of a subtraction is that of a + ~b + 1, also where an addition reads it."""
    chosen = random.Random(seed)
    bits = 64 if seed % 2 else 32
    edges = [0, 1, 2, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1]
    rows = [[chosen.choice([*edges, chosen.getrandbits(bits)]) for _ in range(6)] for _ in range(COUNT)]
    names = [chosen.choice(["add", "sub"]), *(chosen.choice(["addc", "subc"]) for _ in range(2))]
    chain = "".join(f"{name}.cc.u{bits} %r{at}, %a{at}, %b{at};" for at, name in enumerate(names))
    for row, found in zip(rows, _run(chain, rows, bits), strict=True):
        carry = int(names[0] == "sub")
        for name, a, b, result in zip(names, row[:3], row[3:], found, strict=True):
            total = a + (b if name.startswith("add") else b ^ (1 << bits) - 1) + carry
            carry = total >> bits
            assert result == total & (1 << bits) - 1, (names, [hex(one) for one in row])


def _joined(limbs: list[int], bits: int) -> int:
    return sum(limb << at * bits for at, limb in enumerate(limbs))


def _run(chain: str, rows: list[list[int]], bits: int) -> list[list[int]]:
    size = bits // 8
    values = np.array(rows, f"u{size}")
    results = np.zeros((COUNT, 3), f"u{size}")
    names = ["%a0", "%a1", "%a2", "%b0", "%b1", "%b2"]
    launch("\n".join([
        ".version 9.4", ".target sm_90", ".address_size 64",
        ".visible .entry k(.param .u64 p, .param .u64 q) {",
        f".reg .b{bits} %a<3>, %b<3>, %r<3>; .reg .b64 %p, %q, %n; .reg .b32 %t;",
        "mov.u32 %t, %tid.x; ld.param.u64 %p, [p]; ld.param.u64 %q, [q];",
        f"mul.wide.u32 %n, %t, {6 * size}; add.u64 %p, %p, %n;",
        f"mul.wide.u32 %n, %t, {3 * size}; add.u64 %q, %q, %n;",
        *(f"ld.global.b{bits} {name}, [%p+{at * size}];" for at, name in enumerate(names)),
        chain,
        *(f"st.global.b{bits} [%q+{at * size}], %r{at};" for at in range(3)),
        "ret; }", "",
    ]), entry="k", grid=1, block=COUNT, args=[values, results])
    return [[int(one) for one in row] for row in results]
