"""Calls with frames of their own, by address, jump tables, the stack: from nvcc, and by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError, launch
from tests.executor.arithmetic.instruction import HEADER

KERNELS = Path(__file__).parent / "kernels"
NVCC = KERNELS / "nvcc_calls.ptx"
RANDOM = np.random.default_rng(5)


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_recursion() -> None:
    out = np.zeros(96, np.uint32)
    launch(NVCC, entry="fibonacci", grid=2, block=48, args=[out])
    assert out.tolist() == [fibonacci(i % 13) for i in range(96)]


@pytest.mark.parametrize("seed", [0, 1])
def test_quick_sort(seed: int) -> None:
    """Each thread sorts a row by itself: recursion of different depths."""
    keys = RANDOM.integers(-99, 99, (64, 33)).astype(np.int32)
    want = np.sort(keys, axis=1)
    launch(NVCC, entry="quick_sort", grid=2, block=32, args=[keys, np.int32(33)], seed=seed)
    assert np.array_equal(keys, want)


def test_mutual_recursion_and_structures() -> None:
    out = np.zeros(20, np.int32)
    launch(NVCC, entry="parity", grid=1, block=20, args=[out])
    assert out.tolist() == [(i + 1) % 2 * 1000 + 3 * i + 1 + i // 2 for i in range(20)]


def test_functions_in_a_table() -> None:
    out = np.zeros(32, np.int32)
    launch(NVCC, entry="by_table", grid=1, block=32, args=[out, np.int32(3)])
    assert out.tolist() == [[i + 7, i - 7, i * 7][i % 3] for i in range(32)]


def test_alloca() -> None:
    sizes = RANDOM.integers(0, 40, 32).astype(np.int32)
    out = np.zeros(32, np.int32)
    launch(NVCC, entry="on_stack", grid=1, block=32, args=[out, sizes])
    assert out.tolist() == [i * int(n) * (int(n) - 1) // 2 for i, n in enumerate(sizes)]


def one_thread_each(body: str, functions: str = "") -> str:
    """A kernel that stores %r of each thread; %t is the thread."""
    return HEADER + f"""{functions}
    .visible .entry k(.param .u64 out) {{
    .reg .u64 %rd<6>; .reg .u32 %r, %t, %s<4>; .reg .pred %p<3>;
    mov.u32 %t, %tid.x; mov.u32 %r, 0;
    {body}
    ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %t, 4; add.u64 %rd0, %rd0, %rd1; st.global.u32 [%rd0], %r;
    ret; }}
    """


def stored(text: str, threads: int = 32) -> list[int]:
    out = np.zeros(threads, np.uint32)
    launch(text, entry="k", grid=1, block=threads, args=[out])
    return out.tolist()


FACTORIAL = """
    .func (.reg .u32 %result) factorial (.reg .u32 %n) {
    .reg .pred %p; .reg .u32 %less;
    mov.u32 %result, 1;
    setp.lt.u32 %p, %n, 2;
    @%p ret.uni;
    sub.u32 %less, %n, 1;
    call.uni (%result), factorial, (%less);
    mul.lo.u32 %result, %result, %n;
    }"""


def test_parameters_in_registers() -> None:
    """And a function that ends at its brace."""
    found = stored(one_thread_each("call (%r), factorial, (%t);", FACTORIAL), 12)
    want = 1
    for n in range(12):
        want *= max(n, 1)
        assert found[n] == want


def test_a_guarded_call() -> None:
    body = "setp.gt.u32 %p0, %t, 3; mov.u32 %r, 9; @%p0 call (%r), factorial, (%t);"
    assert stored(one_thread_each(body, FACTORIAL), 6) == [9, 9, 9, 9, 24, 120]


@pytest.mark.parametrize("table", [
    "targets: .calltargets one, two;", "targets: .callprototype (.param .u32 _) _ (.param .u32 _);",
])
def test_indirect_calls(table: str) -> None:
    functions = "".join(
        f"""
    .func (.param .u32 out) {name} (.param .u32 in) {{
    .reg .u32 %a; ld.param.u32 %a, [in]; {operation}; st.param.u32 [out], %a; ret; }}"""
        for name, operation in (("one", "add.u32 %a, %a, 5"), ("two", "mul.lo.u32 %a, %a, %a"))
    )
    body = """and.b32 %s0, %t, 1; setp.ne.u32 %p0, %s0, 0;
    mov.u64 %rd2, one; mov.u64 %rd3, two; selp.b64 %rd2, %rd3, %rd2, %p0;
    TABLE
    {
    .param .u32 argument, result;
    st.param.u32 [argument], %t;
    call (result), %rd2, (argument), targets;
    ld.param.u32 %r, [result];
    }""".replace("TABLE", table)
    assert stored(one_thread_each(body, functions), 8) == [5, 1, 7, 9, 9, 25, 11, 49]


def test_arguments_that_are_no_variables() -> None:
    functions = """
    .func (.param .u32 out) minus (.param .u32 a, .param .u32 b) {
    .reg .u32 %a, %b; ld.param.u32 %a, [a]; ld.param.u32 %b, [b]; sub.u32 %a, %a, %b;
    st.param.u32 [out], %a; }"""
    assert stored(one_thread_each("call (%r), minus, (%t, 1);", functions), 3) == [0xFFFFFFFF, 0, 1]


def test_not_the_address_of_a_function() -> None:
    text = one_thread_each(
        "targets: .calltargets one; mov.u64 %rd2, one; add.u64 %rd2, %rd2, 1;\ncall %rd2, targets;",
        ".func one () { ret; }",
    )
    with pytest.raises(ExecutionError, match="is not the address of a function") as caught:
        stored(text, 1)
    assert caught.value.line == text[: text.index("call %rd2")].count("\n") + 1


def test_endless_recursion() -> None:
    text = one_thread_each("call again;", ".func again () { .local .b32 x[64]; call again; }")
    with pytest.raises(ExecutionError, match="stack overflow: a thread requires more than") as caught:
        stored(text, 1)
    assert caught.value.kind == "limit"


def test_a_function_without_a_body() -> None:
    text = one_thread_each("call nowhere;", ".extern .func nowhere ();")
    with pytest.raises(ExecutionError, match="`nowhere` is called but has no body in this file"):
        stored(text, 1)


JUMPS = """and.b32 %s0, %t, MASK;
    targets: .branchtargets L0, L1, L2, L1;
    brx.idx %s0, targets;
L0: mov.u32 %r, 10; bra end;
L1: add.u32 %r, %t, 20; bra end;
L2: mov.u32 %r, 30;
end: add.u32 %r, %r, 1;"""


def test_jump_table() -> None:
    found = stored(one_thread_each(JUMPS.replace("MASK", "3")))
    assert found == [[11, i + 21, 31, i + 21][i % 4] for i in range(32)]


def test_beyond_the_jump_table() -> None:
    with pytest.raises(ExecutionError, match="index 4 is out of range: the list of targets has 4") as caught:
        stored(one_thread_each(JUMPS.replace("MASK", "7")))
    assert (caught.value.kind, caught.value.lanes[0].thread) == ("out-of-bounds", (4, 0, 0))


def test_stack_save_and_restore() -> None:
    body = """stacksave.u64 %rd2; alloca.u64 %rd3, 16, 32; stackrestore.u64 %rd2; alloca.u64 %rd4, 16, 32;
    sub.u64 %rd5, %rd3, %rd4; cvt.u32.u64 %r, %rd5; and.b64 %rd4, %rd4, 31; cvt.u32.u64 %s0, %rd4;
    add.u32 %r, %r, %s0;"""
    assert stored(one_thread_each(body), 2) == [0, 0]


def test_allocated_memory_is_each_threads_own() -> None:
    body = """cvt.u64.u32 %rd2, %t; shl.b64 %rd2, %rd2, 2; add.u64 %rd2, %rd2, 8; alloca.u64 %rd3, %rd2;
    add.u64 %rd4, %rd3, %rd2; st.local.u32 [%rd4+-4], %t; st.local.u32 [%rd3], 7;
    ld.local.u32 %r, [%rd4+-4]; cvta.local.u64 %rd3, %rd3; ld.u32 %s0, [%rd3]; add.u32 %r, %r, %s0;"""
    assert stored(one_thread_each(body), 32) == [i + 7 for i in range(32)]


@pytest.mark.parametrize("instruction", ["trap", "brkpt"])
def test_traps(instruction: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        stored(one_thread_each(f"setp.eq.u32 %p0, %t, 3;\n@%p0 {instruction};"))
    assert (caught.value.kind, caught.value.lanes[0].thread) == ("trap", (3, 0, 0))


def test_clocks_go_on() -> None:
    """%clock64 counts instructions, %globaltimer 32 nanoseconds for each."""
    body = """mov.u64 %rd2, %clock64; mov.u64 %rd3, %globaltimer; nanosleep.u32 10; pmevent 1;
    mov.u64 %rd4, %clock64; sub.u64 %rd4, %rd4, %rd2; mov.u64 %rd5, %globaltimer; sub.u64 %rd5, %rd5, %rd3;
    shl.b64 %rd5, %rd5, 16; or.b64 %rd5, %rd5, %rd4; cvt.u32.u64 %r, %rd5;"""
    assert stored(one_thread_each(body), 1) == [(5 * 32) << 16 | 4]


def test_virtual_functions() -> None:
    """A table in which a function stands that has no body here; the address of an element of an array."""
    functions = """
    .extern .func pure ();
    .func (.param .u32 out) seven () { .reg .u32 %a; mov.u32 %a, 7; st.param.u32 [out], %a; }
    .global .align 8 .u64 table[3] = {0, pure, seven};"""
    body = """mov.u64 %rd2, table[2]; ld.global.u64 %rd3, [%rd2];
    kind: .callprototype (.param .u32 _) _ ();
    { .param .u32 result; call (result), %rd3, kind; ld.param.u32 %r, [result]; }"""
    assert stored(one_thread_each(body, functions), 2) == [7, 7]
    with pytest.raises(ExecutionError, match="is not the address of a function"):
        stored(one_thread_each(body.replace("table[2]", "table[1]"), functions), 2)


# -- programs from nvcc ---------------------------------------------------------------------------

CORPUS = Path(__file__).parents[1] / "oracle" / "corpus"
CONTROL = CORPUS / "nvcc130_control.sm90.O3.ptx"


@pytest.mark.parametrize("source", ["clang_bitonic.sm_75.O0.ptx", "nvcc130_bitonic.sm90.G.ptx"])
def test_recursive_quick_sort(source: str) -> None:
    keys = RANDOM.integers(-99, 99, 150).astype(np.int32)
    want = np.sort(keys)
    launch(CORPUS / source, entry="quicksort_rec", grid=1, block=1, args=[keys, np.int32(150)])
    assert np.array_equal(keys, want)


def test_fibonacci() -> None:
    out = np.zeros(12, np.int32)
    launch(CONTROL, entry="fibk", grid=1, block=12, args=[out])
    assert out.tolist() == [fibonacci(n) for n in range(12)]


def test_table_of_functions() -> None:
    which = RANDOM.integers(0, 3, 32).astype(np.int32)
    values = np.abs(RANDOM.standard_normal(32)).astype(np.float32)
    want = [[v + np.float32(1), v * v, np.sqrt(v)][w] for v, w in zip(values, which, strict=True)]
    launch(CONTROL, entry="indirect", grid=1, block=32, args=[which, values])
    assert np.array_equal(values, np.array(want, np.float32))


def test_objects_with_virtual_functions() -> None:
    """Squares and circles on the heap, by turns."""
    sizes, areas = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    launch(CONTROL, entry="virt", grid=1, block=32, args=[sizes, areas])
    circles = sizes * (sizes * np.float32(3.14))
    assert np.array_equal(areas, np.where(np.arange(32) % 2 == 1, sizes * sizes, circles)) or np.array_equal(
        areas, np.where(np.arange(32) % 2 == 0, sizes * sizes, circles)
    )


def test_formatted_output(capsys: pytest.CaptureFixture[str]) -> None:
    launch(CONTROL, entry="hello", grid=1, block=3, args=[np.uint32(7), np.float64(0.25)])
    assert capsys.readouterr().out == "".join(f"thread {t} of 7: 0.250000 end\n" for t in range(3))


def test_formats_of_output(capsys: pytest.CaptureFixture[str]) -> None:
    launch(NVCC, entry="formats", grid=1, block=1, args=[np.int64(-(10**12))])
    want = "  -42|ab  |0003.142|z|-1000000000000|ff|%|     7|4294967295|1.234500e+04\n"
    assert capsys.readouterr().out == want


def test_assertions() -> None:
    with pytest.raises(ExecutionError, match="assertion `i < n` failed in `void checked") as caught:
        launch(NVCC, entry="checked", grid=1, block=32, args=[np.zeros(32, np.int32), np.int32(20)])
    assert (caught.value.kind, caught.value.lanes[0].thread) == ("trap", (20, 0, 0))


def test_the_heap_ends() -> None:
    out = np.zeros(16, np.int32)
    launch(NVCC, entry="exhausted", grid=1, block=16, args=[out, np.int32(1 << 20)])
    assert out.tolist() == [1] * 8 + [0] * 8


MODULE_SCOPE = """.version 2.3
.target sm_20
.address_size 64
.local .align 4 .u32 count;
.local .align 8 .u64 table[4];
.reg .u32 tens;
.reg .pred %p<3>;
.func (.reg .u32 r) bump()
{
    .reg .u32 a;
    ld.local.u32 a, [count]; add.u32 a, a, 1; st.local.u32 [count], a; add.u32 tens, tens, 10; mov.u32 r, a;
    ret;
}
.entry k(.param .u64 o)
{
    .reg .u32 %r<4>; .reg .u64 %d<2>; .local .u32 own[2];
    mov.u32 %r1, %tid.x; st.local.u32 [count], %r1; st.local.u32 [own+4], 7; st.local.u64 [table+8], 5;
    mov.u32 tens, 1; call (%r2), bump; call (%r2), bump;
    ld.local.u32 %r3, [own+4]; add.u32 %r2, %r2, %r3; ld.local.u32 %r3, [table+8]; add.u32 %r2, %r2, %r3;
    setp.eq.u32 %p2, %r1, 1; @%p2 add.u32 tens, tens, 100; mad.lo.u32 %r2, tens, 1000, %r2;
    ld.param.u64 %d1, [o]; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2;
    ret;
}
"""


def test_local_memory_and_registers_of_the_module() -> None:
    """Without the ABI, before PTX 3.0, all functions share them; each thread has its own."""
    out = np.zeros(4, np.uint32)
    assert not launch(MODULE_SCOPE, entry="k", grid=1, block=4, args=[out], check=True)
    assert out.tolist() == [21_014, 121_015, 21_016, 21_017]
    judge = ptxas.find()
    if judge is not None:
        assert ptxas.judge(MODULE_SCOPE.encode(), ptxas=judge).accepted
