"""Random kernels for what is said of uniformity: additions, comparisons, loads, and branches anywhere."""

from __future__ import annotations

from random import Random

REGISTERS = 5


def program(random: Random) -> str:
    """Blocks of a few instructions each, with jumps to any of them."""
    count = random.randint(3, 9)
    lines = [f".entry k()\n{{\n.reg .u32 r<{REGISTERS}>;\n.reg .pred p<2>;"]
    lines += [f"mov.u32 r{i}, {i or '%tid.x'};" for i in range(REGISTERS)]
    lines += ["setp.lt.u32 p0, r0, 3;", "setp.lt.u32 p1, r1, 3;"]
    for block in range(count):
        lines.append(f"B{block}:")
        lines += [_instruction(random) for _ in range(random.randint(0, 3))]
        kind = random.random()
        near = min(block + random.choice((1, 1, 2, 3)), count - 1)
        target = near if random.random() < 0.6 else random.randrange(count)
        guard = f"@{random.choice(('', '!'))}p{random.randrange(2)}"
        if kind < 0.65:
            lines.append(f"{guard} bra B{target};")
        elif kind < 0.75:
            lines.append(f"bra B{target};")
        elif kind < 0.82:
            lines.append(f"{guard} ret;")
    lines += [f"add.u32 r0, r0, r{i};" for i in range(1, REGISTERS)]  # reads them all
    return "\n".join([*lines, "ret;\n}\n"])


def _instruction(random: Random) -> str:
    """`r0` is the lane all the time; `p0` is mostly divergent, `p1` as uniform as the counters."""
    guard = random.choice(("", "", "", "", "@p0 ", "@!p1 "))
    target, other = (f"r{random.randrange(1, REGISTERS)}" for _ in range(2))
    kind = random.random()
    if kind < 0.5:
        return f"{guard}add.u32 {target}, {target}, {random.choice(('1', '1', '2', other))};"
    if kind < 0.6:
        return f"{guard}mov.u32 {target}, {random.choice(('1', '5', other))};"
    if kind < 0.68:
        return f"{guard}ld.global.u32 {target}, [64];"
    compare = random.choice(("lt", "eq", "gt"))
    if kind < 0.8:
        return f"{guard}setp.{compare}.u32 p0, {random.choice(('r0', target))}, {other};"
    return f"setp.{compare}.u32 p1, {target}, {random.choice((str(random.randrange(12)), other))};"
