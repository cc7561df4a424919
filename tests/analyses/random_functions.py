"""Functions made at random, for comparing an analysis with its definition."""

from __future__ import annotations

from random import Random

_HEAD = """.version 8.5
.target sm_90
.func (.reg .b32 %r0) f(.reg .b32 %r1)
{
.reg .b32 %r2, %r3, %r4;
.reg .pred %p<2>;
"""


def function_text(random: Random) -> str:
    """A function with guarded writes, reads before any write, code that nothing reaches and loops of every
    shape. Its registers are `%r0` to `%r4` and `%p0` and `%p1`.
    """
    lines: list[str] = []
    for number in range(random.randrange(3, 40)):
        guard = random.choice(["", "", "@%p0 ", "@!%p0 ", "@!%p1 "])
        a, b, c = (f"%r{random.randrange(5)}" for _ in range(3))
        lines.append(random.choice([
            f"{guard}add.s32 {a}, {b}, {c};", f"{guard}mov.b32 {a}, {b};", f"mov.b32 {a}, 1;",
            f"setp.eq.s32 %p{random.randrange(2)}, {a}, {b};", f"{guard}st.shared.b32 [{a}], {b};",
            f"{guard}bra L{random.randrange(5)};", f"{guard}ret;", f"M{number}: bar.sync 0;",
        ]))
    for label in range(5):
        lines.insert(random.randrange(len(lines) + 1), f"L{label}:")
    return _HEAD + "\n".join(lines) + "\n}\n"
