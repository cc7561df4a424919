"""Kernels as native code: the same results, the same errors, the same order of groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, launch
from ptx_lsp.executor.launching.parameters import Value
from ptx_lsp.executor.native.hot import HotKernel, NativeMode
from ptx_lsp.executor.scheduling.native_turns import Stops

running = pytest.importorskip("ptx_lsp.executor.native.running", exc_type=ImportError)

KERNELS = Path(__file__).parent / "kernels"
SAXPY = Path(__file__).parents[2] / "examples" / "saxpy.ptx"
RANDOM = np.random.default_rng(4)


def kernel(body: str, registers: str = "") -> str:
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<30>;
    .reg .b64 %rd<20>;
    .reg .f32 %f<9>;
    {registers}
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
{body}
    ret;
}}
"""


def both(
    text: str | Path, entry: str, grid: int | tuple[int, ...], block: int | tuple[int, ...],
    args: list[Value], *, shared_bytes: int = 0,
) -> tuple[list[Value], int]:
    """The arguments after a run, which must be the same with native code; how many steps that left to NumPy.
    """
    left = 0
    ran = HotKernel.ran

    def counted(self: HotKernel, steps: int, lanes: int) -> None:
        nonlocal left
        left += steps
        ran(self, steps, lanes)

    found: list[list[Value]] = []
    modes: tuple[NativeMode, ...] = ("off", "always")
    for mode in modes:
        left = 0
        given = [one.copy() if isinstance(one, np.ndarray) else one for one in args]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(HotKernel, "ran", counted)
            launch(
                text, entry=entry, grid=grid, block=block, args=given, shared_bytes=shared_bytes, native=mode
            )
        found.append(given)
    for one, other in zip(*found, strict=True):
        if isinstance(one, np.ndarray):
            assert isinstance(other, np.ndarray)
            assert one.tobytes() == other.tobytes()
    return found[1], left


def floats(count: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return RANDOM.standard_normal(count).astype(np.float32)


def test_saxpy() -> None:
    count = 3000
    args: list[Value] = [np.uint32(count), np.float32(0.5), floats(count), floats(count)]
    _, left = both(SAXPY, "saxpy", 12, 256, args)
    assert left == 0


def test_barriers() -> None:
    args: list[Value] = [*(floats(64 * 64) for _ in range(3)), np.uint32(64)]
    _, left = both(KERNELS / "matmul.ptx", "matmul", (4, 4), (16, 16), args)
    assert left == 0


def test_divergent_loops() -> None:
    numbers = np.arange(1, 2049, dtype=np.uint32)
    args: list[Value] = [numbers, np.zeros_like(numbers), np.uint32(numbers.size - 5)]
    _, left = both(KERNELS / "collatz.ptx", "collatz", 8, 256, args)
    assert left == 0


def test_tables_of_targets() -> None:
    body = """
    and.b32 %r5, %r1, 3;
    ld.global.u32 %r6, [%rd5];
targets: .branchtargets a, b, c, d;
    brx.idx %r5, targets;
a:  add.u32 %r6, %r6, 1;
    bra join;
b:  mul.lo.u32 %r6, %r6, 3;
c:  xor.b32 %r6, %r6, 85;
    bra join;
d:  setp.gt.u32 %p1, %r6, 100;
    @%p1 exit;
join:
    st.global.u32 [%rd4], %r6;"""
    numbers = RANDOM.integers(0, 200, 256).astype(np.uint32)
    _, left = both(kernel(body), "k", 2, 128, [np.zeros(256, np.uint32), numbers])
    assert left == 0


@pytest.mark.parametrize("threads", [1, 31, 33, 100])
def test_warps_that_are_not_full(threads: int) -> None:
    body = """
    ld.global.v2.u32 {%r5, %r6}, [%rd2];
    ld.global.s16 %r7, [%rd5];
    add.u32 %r7, %r7, %r6;
    st.global.u32 [%rd4], %r7;"""
    numbers = RANDOM.integers(0, 1 << 32, 256).astype(np.uint32)
    _, left = both(kernel(body), "k", 2, threads, [np.zeros(256, np.uint32), numbers])
    assert left == 0


def test_what_has_no_native_code_is_done_without() -> None:
    body = """
    mov.u32 %r9, 0;
loop:
    ld.global.f32 %f1, [%rd5];
    ex2.approx.f32 %f2, %f1;
    add.f32 %f1, %f1, %f2;
    st.global.f32 [%rd4], %f1;
    add.u32 %r9, %r9, 1;
    setp.lt.u32 %p1, %r9, 5;
    @%p1 bra loop;"""
    both(kernel(body), "k", 2, 128, [np.zeros(256, np.float32), floats(256)])


@pytest.mark.parametrize("body", [
    "st.global.u32 [%rd5+4], %r1;",
    "ld.global.u32 %r5, [%rd5+4096];",
    "add.u64 %rd5, %rd5, 2; ld.global.u32 %r5, [%rd5];",
    "mul.lo.u32 %r5, %r1, 8; ld.shared.u32 %r6, [%r5];",
    "setp.gt.u32 %p1, %r1, 40; @%p1 trap;",
    "ld.param.u32 %r5, [in+64];",
    "mov.u32 %r5, %r1; targets: .branchtargets a; brx.idx %r5, targets; a: st.global.u32 [%rd4], %r5;",
])
def test_errors_are_the_same(body: str) -> None:
    text = kernel(body, ".shared .b8 memory[256];")
    messages: list[tuple[str, object]] = []
    modes: tuple[NativeMode, ...] = ("off", "always")
    for mode in modes:
        args = [np.zeros(128, np.uint32), np.zeros(128, np.uint32)]
        with pytest.raises(ExecutionError) as caught:
            launch(text, entry="k", grid=2, block=64, args=args, native=mode)
        messages.append((str(caught.value), caught.value.lanes))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(("body", "kind"), [
    ("loop: add.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra loop; bra loop;", "deadlock"),
    ("loop: ld.global.u32 %r5, [%rd4]; setp.eq.u32 %p1, %r5, 0; @%p1 bra loop;", "deadlock"),
    ("loop: add.u32 %r5, %r5, 2; setp.ne.u32 %p1, %r5, 1; @%p1 bra loop;", "limit"),
])
def test_endless_loops_end(body: str, kind: str) -> None:
    args = [np.zeros(128, np.uint32), np.zeros(128, np.uint32)]
    with pytest.raises(ExecutionError) as caught:
        launch(kernel(body), entry="k", grid=1, block=64, args=args, native="always")
    assert caught.value.kind == kind
    assert "line 21" in str(caught.value) or kind != "limit"  # that of the loop


@pytest.mark.parametrize("fuel", [100, 3000])
def test_turns_that_end_early(fuel: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "_FUEL", fuel)
    numbers = np.arange(1, 2049, dtype=np.uint32)
    args: list[Value] = [numbers, np.zeros_like(numbers), np.uint32(numbers.size - 5)]
    _, left = both(KERNELS / "collatz.ptx", "collatz", 8, 256, args)
    assert left or fuel > 100
    args = [*(floats(64 * 64) for _ in range(3)), np.uint32(64)]
    both(KERNELS / "matmul.ptx", "matmul", (4, 4), (16, 16), args)
    test_atomics_in_order()


def test_atomics_in_order() -> None:
    body = """
    ld.global.u32 %r5, [%rd5];
    and.b32 %r6, %r5, 7;
    mul.wide.u32 %rd6, %r6, 4;
    add.u64 %rd6, %rd1, %rd6;
    atom.global.add.u32 %r7, [%rd6+2048], %r5;
    atom.global.max.s32 %r8, [%rd6+2080], %r5;
    red.global.add.f32 [%rd1+3000], 0f3DCCCCCD;
    atom.shared.exch.b32 %r9, [memory], %r1;
    xor.b32 %r7, %r7, %r8;
    add.u32 %r7, %r7, %r9;
    st.global.u32 [%rd4], %r7;"""
    numbers = RANDOM.integers(0, 1 << 32, 256).astype(np.uint32)
    text = kernel(body, ".shared .b8 memory[256];")
    both(text, "k", 4, 64, [np.zeros(1024, np.uint32), numbers])


def test_locks() -> None:
    args: list[Value] = [np.zeros(1, np.uint32), np.zeros(1, np.uint32)]
    both(KERNELS / "spin_lock.ptx", "add_under_lock", 4, 64, args)


def test_calls() -> None:
    from benchmarks.executor_kernels import RECURSION, SWITCH

    _, left = both(RECURSION, "recursion", 1, 64, [np.zeros(64, np.uint32), np.uint32(9)])
    assert left < 50  # only where the stack grows
    _, left = both(SWITCH, "switch", 2, 256, [np.zeros(512, np.uint32), np.uint32(9)])
    assert left == 0


def test_a_kernel_becomes_native_once_it_is_hot() -> None:
    text = kernel("""
    mov.u32 %r5, 0;
loop:
    add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, 200000;
    @%p1 bra loop;
    st.global.u32 [%rd4], %r5;""")
    steps = 0
    ran = HotKernel.ran

    def counted(self: HotKernel, count: int, lanes: int) -> None:
        nonlocal steps
        steps += count
        ran(self, count, lanes)

    out = np.zeros(32, np.uint32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HotKernel, "ran", counted)
        launch(text, entry="k", grid=1, block=32, args=[out, out])
    assert (out == 200000).all()
    assert 0 < steps < 100_000


@pytest.mark.parametrize("body", [
    "ld.global.u32 %r5, [%rd15];", "st.global.u8 [%rd15], %r1;", "ld.u32 %r5, [%rd15];",
    "atom.global.add.u32 %r5, [%rd15], 1;",
])
def test_null_is_outside_memory(body: str) -> None:
    args = [np.zeros(64, np.uint32), np.zeros(64, np.uint32)]
    with pytest.raises(ExecutionError) as caught:
        launch(kernel(f"mov.u64 %rd15, 0; {body}"), entry="k", grid=1, block=64, args=args, native="always")
    assert caught.value.kind == "out-of-bounds"


def test_square_roots_that_are_not_numbers() -> None:
    body = "ld.global.f32 %f1, [%rd5]; sqrt.rn.f32 %f2, %f1; st.global.f32 [%rd4], %f2;"
    bits = np.array([0xBF800000, 0x7FC12345, 0xFF800000, 0x80000000] * 16, np.uint32)
    both(kernel(body), "k", 1, 64, [np.zeros(64, np.float32), bits.view(np.float32)])


_OPERATIONS = (
    "add.u32", "sub.s32", "mul.lo.u32", "mul.hi.s32", "div.s32", "rem.u32", "and.b32", "xor.b32", "shl.b32",
    "shr.s32", "min.s32", "max.u32", "add.sat.s32",
)


@pytest.mark.parametrize("seed", range(6))
def test_random_kernels(seed: int) -> None:
    """Guarded instructions, branches and loops of different length for each thread."""
    choose = np.random.default_rng(seed)

    def register() -> str:
        return f"%r{choose.integers(5, 12)}"

    lines = ["ld.global.u32 %r5, [%rd5];", *(f"mul.lo.u32 %r{one}, %r5, {one};" for one in range(6, 12))]
    for number in range(25):
        guard = choose.choice(["", "@%p1 ", "@!%p2 "]) if number else ""
        if number % 4 == 0:
            lines += [f"setp.lt.{choose.choice(['u32', 's32'])} %p{one}, {register()}, {register()};"
                      for one in (1, 2)]
        if number % 9 == 5:
            lines += [f"and.b32 %r20, %r{5 + number % 7}, 7;", f"loop{number}:"]
        lines.append(f"{guard}{choose.choice(_OPERATIONS)} {register()}, {register()}, {register()};")
        if number % 6 == 3:
            lines += [f"@%p1 bra skip{number};", f"ld.global.s8 {register()}, [%rd5+1];", f"skip{number}:"]
        if number % 9 == 7:
            lines += ["sub.s32 %r20, %r20, 1;", "setp.ge.s32 %p3, %r20, 0;", f"@%p3 bra loop{number - 2};"]
    lines += [f"xor.b32 %r5, %r5, %r{one};" for one in range(6, 12)]
    lines += ["@%p2 st.global.u32 [%rd4], %r5;", "@!%p2 st.global.u32 [%rd4], %r1;"]
    numbers = choose.integers(0, 1 << 32, 256).astype(np.uint32)
    numbers[::5] = choose.choice([0, 1, 31, 32, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], numbers[::5].size)
    _, left = both(kernel("\n".join(lines)), "k", 2, 100, [np.zeros(256, np.uint32), numbers])
    assert left == 0


@pytest.mark.parametrize("seed", range(12))
def test_random_loops_of_full_warps(seed: int) -> None:
    """Loops without branches; lanes access the same address, one after the other, or neither."""
    choose = np.random.default_rng(seed)

    def pick(*texts: str) -> str:
        return str(choose.choice(texts))

    def register() -> str:
        return f"%r{choose.integers(5, 9)}"

    def address() -> str:
        """In the middle of shared memory, and a few bytes further after each iteration."""
        return pick("[%r10]", "[%r11]", "[%r12]", "[%r11+128]", "[%r13]")

    lanes = ("%r1", "0", "%r14", "%r15")
    lines = ["shr.u32 %r14, %r1, 4;", "xor.b32 %r15, %r1, 5;", "mov.u32 %r9, tile;"]
    lines += [f"mul.lo.u32 %r{one}, %r1, {one};" for one in range(5, 9)]
    for one in range(10, 14):
        lines += [f"mad.lo.u32 %r{one}, {pick(*lanes)}, 4, 2048;", f"add.u32 %r{one}, %r{one}, %r9;"]
    for one in range(32):
        lines += [f"mad.lo.u32 %r16, %r1, 4, {128 * one};", "add.u32 %r16, %r16, %r9;"]
        lines.append("st.shared.u32 [%r16], %r4;")
    lines += [f"mov.u32 %r20, {pick('%r1', '3', '7')};", "and.b32 %r20, %r20, 7;"]
    lines += ["setp.lt.u32 %p2, %r1, 20;", "loop:"]
    for _ in range(10):
        guard = pick("", "", "@%p2 ", "@!%p2 ")
        step = pick("4", "0", "64", "-4")
        moving = f"%r{choose.integers(10, 14)}"
        lines.append(pick(
            f"{guard}ld.shared.u32 {register()}, {address()};",
            f"{guard}st.shared.u32 {address()}, {register()};",
            f"{guard}{pick(*_OPERATIONS)} {register()}, {register()}, {register()};",
            f"{guard}add.u32 {moving}, {moving}, {step};",
            f"add.u32 {moving}, {moving}, {step};",
            f"shl.b32 {register()}, {register()}, {choose.integers(0, 34)};",
            f"mul.lo.u32 {register()}, {register()}, {choose.integers(0, 5)};",
            f"setp.lt.u32 %p2, {register()}, {register()};",
            f"ld.global.u32 {register()}, [%rd5+{4 * choose.integers(0, 9)}];",
        ))
    lines += ["sub.s32 %r20, %r20, 1;", "setp.ge.s32 %p3, %r20, 0;", "@%p3 bra loop;"]
    lines += [f"xor.b32 %r5, %r5, %r{one};" for one in (6, 7, 8, 10, 11, 12, 13)]
    lines.append("st.global.u32 [%rd4], %r5;")
    numbers = choose.integers(0, 1 << 32, 160).astype(np.uint32)
    text = kernel("\n".join(lines), ".shared .align 4 .b8 tile[8192];")
    _, left = both(text, "k", 2, 32, [np.zeros(160, np.uint32), numbers])
    assert left == 0


@pytest.mark.parametrize(("moved", "access"), [
    ("add.u32 %r6, %r6, 4;", "ld.shared.u32 %r7, [%r6];"),
    ("add.u32 %r6, %r6, 4;", "st.shared.u32 [%r6], %r7;"),
    ("add.u32 %r5, %r5, 4;", "ld.shared.u32 %r7, [%r5];"),
    ("sub.u32 %r6, %r6, 4;", "ld.shared.u32 %r7, [%r6];"),
    ("add.u32 %r6, %r6, 2;", "ld.shared.u32 %r7, [%r6];"),
    ("add.u32 %r8, %r8, 4;", "ld.shared.u32 %r7, [%r8];"),
    ("add.u64 %rd5, %rd5, 4;", "ld.global.u32 %r7, [%rd5];"),
    ("add.u64 %rd2, %rd2, 4;", "st.global.u32 [%rd2], %r7;"),
])
def test_loops_that_leave_memory(moved: str, access: str) -> None:
    """The same line and thread, and what the kernel has done until then."""
    body = f"""
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r1, 4, %r5;
    mul.lo.u32 %r8, %r1, 12;
    mov.u32 %r7, 0;
    add.u32 %r8, %r5, %r8;
loop:
    add.u32 %r9, %r9, 1;
    st.global.u32 [%rd4], %r9;
    {access}
    {moved}
    bra loop;
"""
    text = kernel(body, ".shared .align 4 .b8 tile[1024];")
    found: list[tuple[str, bytes]] = []
    modes: tuple[NativeMode, ...] = ("off", "always")
    for mode in modes:
        out = np.zeros(64, np.uint32)
        with pytest.raises(ExecutionError) as caught:
            launch(text, entry="k", grid=1, block=32, args=[out, np.zeros(64, np.uint32)], native=mode)
        found.append((str(caught.value), out.tobytes()))
    assert found[0] == found[1]


def test_guarded_results_within_a_block() -> None:
    body = """
    mov.u32 %r5, 7;
    setp.eq.u32 %p1, %r1, 37;
    @%p1 add.u32 %r5, %r5, 100;
    st.global.u32 [%rd4], %r5;"""
    both(kernel(body), "k", 1, 64, [np.zeros(64, np.uint32), np.zeros(64, np.uint32)])


@pytest.mark.parametrize("seed", range(4))
def test_random_stops_within_blocks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registers that only one block uses, when threads leave native code in its middle."""
    choose, run, left_at = np.random.default_rng(seed), running.NativeCode.run, set[int]()

    def noted(*args: object) -> Stops:
        stops = run(*args)
        left_at.update(step for _, step, _ in stops.inside)
        return stops

    monkeypatch.setattr(running.NativeCode, "run", noted)
    stops = "ex2.approx.f32 %f1, %f2;", "selp.b64 %rd6, %rd4, %rd5, %p3; ld.global.b32 %f1, [%rd6];"
    lines = ["ld.global.u32 %r5, [%rd5]; cvt.rn.f32.u32 %f2, %r1; setp.lt.u32 %p3, %r1, 50;"]
    for number in range(8):
        if number:
            lines.append(f"and.b32 %r6, %r5, {1 << number}; setp.ne.u32 %p1, %r6, 0; @%p1 bra skip{number};")
        steps = [f"mul.lo.u32 %r{one}, %r5, {choose.integers(1 << 32)};" for one in range(10, 14)]
        steps += ["setp.lt.u32 %p2, %r10, %r11;", "@%p2 add.u32 %r13, %r12, 1;"]
        steps.insert(int(choose.integers(len(steps) + 1)), str(choose.choice(stops)))
        lines += [*steps, "mov.b32 %r14, %f1;", *(f"xor.b32 %r5, %r5, %r{one};" for one in range(10, 15))]
        lines += ["st.global.u32 [%rd4], %r5;", f"skip{number}:"]
    numbers = choose.integers(0, 1 << 32, 256).astype(np.uint32)
    both(kernel("\n".join(lines)), "k", 2, 100, [np.zeros(256, np.uint32), numbers])
    assert left_at


def test_values_joined_where_a_block_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few for each block, however many blocks there are: registers that one block uses live in no other."""
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_native_target()
    machine_code, joined = running.MachineCode, list[int]()

    def counted(text: str) -> object:
        module = llvm.parse_assembly(text)
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        machine = llvm.Target.from_default_triple().create_target_machine()
        passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
        joined.append(sum(line.count("[") for line in str(module).splitlines() if "= phi <32 x" in line))
        return machine_code(text)

    monkeypatch.setattr(running, "MachineCode", counted)
    for count in (8, 32):
        body = "".join(f"""
    .reg .b32 %n{one}_<4>;
    and.b32 %n{one}_0, %r4, {one}; setp.eq.u32 %p1, %n{one}_0, 0; @%p1 bra skip{one};
    ld.global.u32 %n{one}_1, [%rd5]; add.u32 %n{one}_2, %n{one}_1, 3;
    mul.lo.u32 %n{one}_3, %n{one}_2, %n{one}_1; st.global.u32 [%rd4], %n{one}_3;
skip{one}:""" for one in range(count))
        both(kernel(body), "k", 1, 32, [np.zeros(32, np.uint32), np.ones(32, np.uint32)])
    few, many = joined
    assert 0 < many - few < 32 * 24
