"""Branches, loops and tables of branches."""

from __future__ import annotations

from benchmarks.shapes.making import REGISTERS, body, each, shape


@shape(1_000)
def scattered_branches(n: int) -> str:
    """Three branches after each label, to labels all over the function."""
    labels = [
        f"L{i}:\n"
        + "".join([f"@%p{k + 1} bra L{(i * m + 7 * k) % n};\n" for k, m in enumerate((7, 31, 101))])
        for i in range(n)
    ]
    return body(REGISTERS, *labels)


@shape(1_000)
def scattered_updates(n: int) -> str:
    """Branches with a register that changes in each block, and barriers."""
    labels = [
        f"L{i}:\nadd.s32 %r{i % 7}, %r{i % 5}, {i};\nbar.sync 0;\n"
        + "".join([f"@%p{k + 1} bra L{(i * m + 7 * k) % n};\n" for k, m in enumerate((7, 31, 101))])
        for i in range(n)
    ]
    return body(REGISTERS, *labels)


@shape(1_000)
def nested_loops(n: int) -> str:
    inner = [f"@%p1 bra L{i};\n" for i in reversed(range(n))]
    return body(REGISTERS, each("L#:\n", n), "add.s32 %r1, %r1, 1;\n", *inner)


@shape(1_000)
def nested_counting_loops(n: int) -> str:
    inner = [
        f"add.s32 %i{i}, %i{i}, 1;\nsetp.lt.s32 %p2, %i{i}, 9;\n@%p2 bra L{i};\n"
        for i in reversed(range(n))
    ]
    return body(
        REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        each("mov.u32 %i#, 0;\nL#:\n", n),
        "bar.sync 0;\n",
        *inner,
    )


@shape(1_000)
def nested_ifs(n: int) -> str:
    ends = [f"E{i}:\nadd.s32 %r2, %r2, 1;\n" for i in reversed(range(n))]
    return body(
        REGISTERS, each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra E#;\n", n), "bar.sync 0;\n", *ends
    )


@shape(5_000)
def chain_of_ifs(n: int) -> str:
    return body(
        REGISTERS,
        each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra E#;\nadd.s32 %r2, %r1, %r2;\nE#:\n", n),
    )


@shape(5_000)
def chain_of_loops(n: int) -> str:
    return body(
        REGISTERS, each("L#:\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, #;\n@%p2 bra L#;\n", n)
    )


@shape(10_000)
def chain_of_branches(n: int) -> str:
    return body(REGISTERS, each("bra L#;\nL#:\n", n))


@shape(10_000)
def chain_backwards(n: int) -> str:
    """Blocks one after the other, run from the last to the first."""
    blocks = [f"L{i}:\nadd.s32 %r{i % 7}, %r1, %r2;\nbra L{i - 1};\n" for i in range(1, n)]
    return body(REGISTERS, f"bra L{n - 1};", *blocks, "L0:")


@shape(2_000)
def loops_backwards(n: int) -> str:
    """Blocks that run from the last to the first, with a way back from each to the last."""
    blocks = [
        f"L{i}:\nadd.s32 %r{i % 7}, %r1, %r2;\n@%p1 bra L{n - 1};\nbra L{i - 1};\n"
        for i in range(1, n)
    ]
    return body(REGISTERS, f"bra L{n - 1};", *blocks, "L0:")


@shape(5_000)
def early_exits(n: int) -> str:
    return body(
        REGISTERS, each("setp.eq.u32 %p2, %r1, #;\n@%p2 bra END;\nbar.sync 0;\n", n), "END:\n"
    )


@shape(2_000)
def ladder(n: int) -> str:
    """An irreducible graph: two columns of blocks, with branches from each to the next of the other."""
    rungs = [
        f"A{i}:\n@%p1 bra B{i + 1};\n@%p2 bra B{max(0, i - 1)};\nbra A{i + 1};\n" for i in range(n)
    ]
    rungs += [f"A{n}:\n"]
    rungs += [
        f"B{i}:\n@%p1 bra A{i + 1};\n@%p2 bra A{max(0, i - 1)};\nbra B{i + 1};\n" for i in range(n)
    ]
    return body(REGISTERS, "@%p1 bra B0;", *rungs, f"B{n}:\n")


@shape(2_000)
def jump_to_all(n: int) -> str:
    """Loops that share a head: a branch back to the first block from each."""
    return body(REGISTERS, "HEAD:\n", each("add.s32 %r2, %r1, %r2;\n@%p1 bra HEAD;\n", n))


@shape(2_000)
def one_entry_each(n: int) -> str:
    """A loop that is entered at each of its blocks."""
    first = each("@%p1 bra L#;\n", n)
    return body(REGISTERS, first, each("L#:\nadd.s32 %r2, %r1, %r2;\n", n), "bra L0;\n")


@shape(20_000)
def jump_table(n: int) -> str:
    names = ", ".join([f"L{i}" for i in range(n)])
    return body(REGISTERS, f"TS: .branchtargets {names};\nbrx.idx %r1, TS;\n", each("L#:\n", n))


@shape(200)
def jump_tables(n: int) -> str:
    names = ", ".join([f"L{i}" for i in range(n)])
    return body(
        REGISTERS,
        f"TS: .branchtargets {names};\n",
        each("L#:\nadd.s32 %r2, %r1, %r2;\nbrx.idx %r2, TS;\n", n),
    )


@shape(300)
def interference(n: int) -> str:
    """Values that are alive through a chain of loops, each changed in some."""
    loops = [
        f"L{i}:\n" + f"add.s32 %i{i}, %i{(i * 7) % n}, %i{(i * 3) % n};\n@%p1 bra L{i};\n"
        for i in range(n)
    ]
    return body(
        REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        each("mov.u32 %i#, %tid.x;\n", n),
        *loops,
        each("st.global.u32 [%rd1], %i#;\n", n),
    )


@shape(1_000)
def merged_at_once(n: int) -> str:
    """Registers that all are merged where as many branches meet."""
    return body(
        REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        each("mov.u32 %i#, 0;\n", n),
        each("@%p1 bra JOIN;\n", n),
        each("add.s32 %i#, %i#, 1;\n", n),
        "JOIN:\n",
        each("st.global.u32 [%rd1], %i#;\n", n),
    )


@shape(5_000)
def cases_in_a_loop(n: int) -> str:
    """A jump table in a loop, whose targets meet at once."""
    names = ", ".join([f"L{i}" for i in range(n)])
    cases = each("L#:\nadd.s32 %r2, %r2, #;\nbra JOIN;\n", n)
    table = f"HEAD:\nTS: .branchtargets {names};\nbrx.idx %r3, TS;\n"
    return body(REGISTERS, table, cases, "JOIN:\nadd.s32 %r2, %r2, %r1;\n@%p2 bra HEAD;\n")


@shape(1_000)
def joins(n: int) -> str:
    """Many registers that change on both sides of many branches."""
    parts = [
        f"@%p1 bra T{i};\nadd.s32 %i{i}, %i{i}, 1;\nbra J{i};\nT{i}:\nsub.s32 %i{i}, %i{i}, 1;\nJ{i}:\n"
        for i in range(n)
    ]
    ends = each("st.global.u32 [%rd1], %i#;\n", n)
    return body(
        REGISTERS,
        f".reg .b32 %i<{n}>;\n",
        each("mov.u32 %i#, 0;\n", n),
        "HEAD:\n",
        *parts,
        "@%p2 bra HEAD;\n",
        ends,
    )
