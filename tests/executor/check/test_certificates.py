"""Launches certified by native code to have no findings: findings, memory and errors are as without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.executor.check.certificate import Certificates
from ptx_lsp.executor.launching.object_specs import argument
from ptx_lsp.executor.native.hot import NativeMode
from tests.executor.pairs import FILES, Pair, name_of

pytest.importorskip("llvmlite", exc_type=ImportError)
_COUNT = 1024


def kernel(body: str) -> str:
    return f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{{
    .reg .pred %p<9>;
    .reg .b32 %r<30>;
    .reg .b64 %rd<20>;
    .shared .align 16 .b8 tile[1024];
    .shared .align 16 .b8 other[256];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r4, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r4, 4;
    add.u64 %rd4, %rd1, %rd3;
    add.u64 %rd5, %rd2, %rd3;
    mov.u32 %r5, tile;
    mad.lo.u32 %r6, %r1, 4, %r5;
{body}
    ret;
}}
"""


def run(
    text: str, mode: NativeMode, block: int = 64, grid: int = 2
) -> tuple[tuple[Finding, ...], str, bytes, bool]:
    """The findings, the error, memory afterwards, and whether there was a certificate."""
    args = [np.zeros(_COUNT, np.uint32), np.arange(_COUNT, dtype=np.uint32)]
    certain: list[bool] = []
    is_certain = Certificates.is_certain

    def noted(self: Certificates) -> bool:
        certain.append(is_certain(self))
        return certain[-1]

    error = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Certificates, "is_certain", noted)
        try:
            found = launch(text, entry="k", grid=grid, block=block, args=args, check=True, native=mode)
        except ExecutionError as raised:
            found, error = raised.findings, str(raised)
    return found, error, b"".join(one.tobytes() for one in args), any(certain)


def compared(text: str, block: int = 64, grid: int = 2) -> tuple[tuple[Finding, ...], bool]:
    """The findings, which must be the same in both ways, and whether there was a certificate."""
    found, error, memory, never = run(text, "off", block, grid)
    *native, is_certain = run(text, "always", block, grid)
    assert native == [found, error, memory]
    assert not never
    assert not (is_certain and found)
    return found, is_certain


_RIGHT = {
    "each thread its own": "ld.global.u32 %r7, [%rd5]; st.global.u32 [%rd4], %r7;",
    "read and written": "ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, %r4; st.global.u32 [%rd4], %r7;",
    "halves and vectors": (
        "ld.global.u16 %r7, [%rd5]; st.global.u16 [%rd4+2], %r7; add.u64 %rd6, %rd4, %rd3; "
        "ld.global.v2.u32 {%r8, %r9}, [%rd2]; st.global.v2.u32 [%rd6+1024], {%r8, %r9};"
    ),
    "across a barrier": (
        "st.shared.u32 [%r6], %r4; bar.sync 0; sub.u32 %r7, %r3, %r1; mad.lo.u32 %r8, %r7, 4, %r5; "
        "ld.shared.u32 %r9, [%r8+-4]; st.global.u32 [%rd4], %r9;"
    ),
    "again after another barrier": (
        "mov.u32 %r10, 0; loop: st.shared.u32 [%r6], %r10; bar.sync 0; ld.shared.u32 %r9, [tile+20]; "
        "add.u32 %r10, %r10, %r9; bar.sync 0; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 60; "
        "@%p1 bra loop; st.global.u32 [%rd4], %r10;"
    ),
    "some threads": (
        "setp.lt.u32 %p1, %r1, 40; @%p1 st.shared.u32 [%r6], %r4; @%p1 ld.shared.u32 %r9, [%r6]; "
        "mov.u32 %r9, 4; @%p1 st.global.u32 [%rd4], %r9;"
    ),
    "a divisor": "add.u32 %r7, %r1, 1; div.u32 %r8, %r4, %r7; st.global.u32 [%rd4], %r8;",
    "a constant load": "ld.global.nc.u32 %r7, [%rd5]; st.global.u32 [%rd4], %r7;",
}
_WRONG = {
    "race": (
        "st.global.u32 [%rd1], %r4;",
        "ld.global.u32 %r7, [%rd1]; st.global.u32 [%rd4], %r7;",
        "st.global.u32 [%rd4], %r4; ld.global.u32 %r7, [%rd4+4];",
        "ld.global.u32 %r7, [%rd4+4]; st.global.u32 [%rd4], %r7;",
        "st.shared.u32 [%r6], %r4; xor.b32 %r7, %r1, 1; mad.lo.u32 %r8, %r7, 4, %r5; "
        "ld.shared.u32 %r9, [%r8];",
        "st.shared.u32 [%r6], %r4; bar.sync 0; ld.shared.u32 %r9, [tile+8]; st.shared.u32 [%r6], %r9;",
        "shr.u32 %r7, %r1, 1; mad.lo.u32 %r8, %r7, 4, %r5; st.shared.u32 [%r8], %r1;",
        "shr.u32 %r7, %r1, 4; mad.lo.u32 %r8, %r7, 4, %r5; st.shared.u32 [%r8], %r1;",
        "st.shared.u32 [%r6], %r4; bar.sync 0; st.shared.u32 [%r6], %r1; ld.shared.u32 %r9, [tile+252];",
        "setp.eq.u32 %p1, %r1, 0; st.shared.u32 [%r6], %r4; bar.sync 0; ld.shared.u32 %r9, [tile]; "
        "@%p1 st.shared.u32 [tile+4], %r9; @!%p1 ld.shared.u32 %r10, [tile+4];",
    ),
    "uninitialized-memory": (
        "ld.shared.u32 %r7, [%r6]; st.global.u32 [%rd4], %r7;",
        "setp.lt.u32 %p1, %r1, 40; @%p1 st.shared.u32 [%r6], %r4; bar.sync 0; ld.shared.u32 %r9, [tile+200];",
        "st.shared.u16 [%r6], %r4; ld.shared.u32 %r9, [%r6];",
    ),
    "uninitialized-register": ("add.u32 %r7, %r8, 1; st.global.u32 [%rd4], %r7;",),
    "out-of-bounds": (
        "add.u64 %rd6, %rd1, 8192; ld.global.u32 %r7, [%rd6];",
        "st.shared.u32 [%r6+1024], %r4;",
        "mov.u32 %r7, other; mad.lo.u32 %r7, %r1, 8, %r7; st.shared.u32 [%r7], %r4;",
    ),
    "division-by-zero": (
        "div.u32 %r8, %r4, %r1; st.global.u32 [%rd4], %r8;",
        "mov.u32 %r7, 1; mov.u32 %r9, 0; loop: rem.u32 %r8, 0, %r7; mov.u32 %r7, 0; add.u32 %r9, %r9, 1; "
        "setp.lt.u32 %p1, %r9, 3; @%p1 bra loop; st.global.u32 [%rd4], %r8;",
    ),
    "incoherent-load": (
        "st.global.u32 [%rd4], %r4; ld.global.nc.u32 %r7, [%rd4];",
        "ld.global.nc.u32 %r7, [%rd4]; st.global.u32 [%rd4], %r4; ld.global.nc.u32 %r7, [%rd4];",
    ),
}


@pytest.mark.parametrize("block", [64, 100])
@pytest.mark.parametrize("name", _RIGHT)
def test_right_kernels_have_certificates(name: str, block: int) -> None:
    assert compared(kernel(_RIGHT[name]), block) == ((), True)


@pytest.mark.parametrize(("kind", "body"), [(kind, one) for kind, found in _WRONG.items() for one in found])
def test_wrong_kernels_have_none(kind: str, body: str) -> None:
    found, is_certain = compared(kernel(body))
    assert kind in {one.kind for one in found}
    assert not is_certain


def test_a_divisor_that_nothing_reads() -> None:
    """The remainder of 0 is 0 without its divisor, of which native code then may not have the value."""
    body = "add.u32 %r7, %r1, 1; rem.u32 %r8, 0, %r7; st.global.u32 [%rd4], %r8;"
    assert compared(kernel(body)) == ((), False)


@pytest.mark.parametrize(("mask", "kinds"), [(31, set[str]()), (63, {"uninitialized-memory"})])
def test_bytes_that_a_load_does_not_use(mask: int, kinds: set[str]) -> None:
    """Each thread has written the first five of the bytes that it loads."""
    found, _ = compared(kernel(f"""
    mad.lo.u32 %r6, %r1, 4, %r6;
    st.shared.u32 [%r6], %r4;
    st.shared.u8 [%r6+4], %r4;
    .pragma "used_bytes_mask {mask}";
    ld.shared.u64 %rd6, [%r6];
    st.global.u32 [%rd4], %rd6;"""))
    assert {one.kind for one in found} == kinds


@pytest.mark.parametrize(("half", "kinds"), [("%r8", set[str]()), ("%r9", {"uninitialized-register"})])
def test_packed_halves(half: str, kinds: set[str]) -> None:
    """The upper half was never written."""
    found, _ = compared(kernel(f"""
    mov.b64 %rd6, {{%r4, %r7}};
    mov.b64 {{%r8, %r9}}, %rd6;
    st.global.u32 [%rd4], {half};"""))
    assert {one.kind for one in found} == kinds


_PAIRS = [one for one in FILES if one.parent.name in ("barriers", "shared")]


@pytest.mark.parametrize("path", _PAIRS, ids=name_of)
def test_pairs(path: Path) -> None:
    """Kernels that are wrong in what lies between barriers, and their twins."""
    for entry, one in Pair.of(path).comments.items():
        modes: tuple[NativeMode, ...] = ("off", "always")
        found: list[object] = []
        for mode in modes:
            try:
                args = [argument(spec) for spec in one.specs]
                found.append(launch(
                    path, entry=entry, grid=one.grid, block=one.block, args=args, check=True, native=mode,
                    limit=200_000,
                ))
            except ExecutionError as error:
                found.append((error.findings, str(error)))
        assert found[0] == found[1]


def test_what_was_written_before_a_suspicion_is_undone() -> None:
    body = """
    ld.global.u32 %r7, [%rd4];
    add.u32 %r7, %r7, 5;
    st.global.u32 [%rd4], %r7;
    setp.eq.u32 %p1, %r4, 100;
    @%p1 st.global.u32 [%rd5+4], %r7;
    @%p1 ld.shared.u32 %r8, [%r6];"""
    found, _ = compared(kernel(body))
    assert {one.kind for one in found} == {"uninitialized-memory"}


@pytest.mark.parametrize("seed", range(40))
def test_random_kernels(seed: int) -> None:
    """Accesses to shared and global memory, some of them in loops and by some threads, between barriers."""
    choose = np.random.default_rng(seed)

    def pick(*texts: str) -> str:
        return str(choose.choice(texts))

    lines = ["st.shared.u32 [%r6], %r4;", "mov.u32 %r7, 1;", "mov.u32 %r20, 0;", "setp.lt.u32 %p1, %r1, 40;"]
    lines += ["xor.b32 %r9, %r1, 1;", "shl.b32 %r9, %r9, 2;", "add.u32 %r9, %r9, %r5;", "mov.u32 %r8, 3;"]
    lines += ["shr.u32 %r10, %r1, 4;", "mad.lo.u32 %r10, %r10, 4, %r5;"]
    lines += ["mul.lo.u32 %r11, %r1, 16;", "and.b32 %r11, %r11, 1008;", "add.u32 %r11, %r11, %r5;"]
    lines.append(pick("bar.sync 0;", "bar.sync 0;", ""))
    is_loop = bool(choose.integers(2))
    lines += ["loop:"] if is_loop else []
    for _ in range(int(choose.integers(2, 6))):
        lines.append(pick(
            "ld.shared.u32 %r8, [%r9];", "ld.shared.u32 %r8, [%r10];", "ld.shared.u32 %r8, [%r6];",
            "bar.sync 0; st.shared.u32 [%r6], %r8; bar.sync 0;", "bar.sync 0;",
            "@%p1 ld.shared.u32 %r8, [%r9];",
            "ld.global.u32 %r8, [%rd5];", "ld.global.u32 %r8, [%rd2+16];", "st.global.u32 [%rd4], %r8;",
            "bar.sync 0; @%p1 st.shared.u32 [%r6], %r8; bar.sync 0;", "ld.shared.u16 %r8, [%r9+2];",
            "ld.global.u32 %r8, [%rd4];", "@%p1 st.global.u32 [%rd4], %r7;", "add.u32 %r7, %r7, %r8;",
            *(() if choose.integers(3) else (
                "st.shared.u32 [%r10], %r8;", "st.shared.u32 [%r11], %r8;", "st.global.u32 [%rd4+4], %r8;",
                "ld.shared.v4.u32 {%r8, %r12, %r13, %r14}, [%r11];", "st.global.u8 [%rd4+1], %r8;",
            )),
        ))
    if is_loop:
        lines += ["add.u32 %r20, %r20, 1;", "setp.lt.u32 %p2, %r20, 3;", "@%p2 bra loop;"]
    compared(kernel("\n".join(lines)), block=int(choose.choice([32, 64, 100, 256])), grid=3)


def test_progress_without_memory_for_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last progress is the end, with a certificate or, where there is no memory for one, without."""
    text = kernel(_RIGHT["each thread its own"])
    args = [np.zeros(_COUNT, np.uint32), np.arange(_COUNT, dtype=np.uint32)]
    seen: list[int] = []

    def progress(done: int, blocks: int, _: int) -> None:
        assert blocks == 2
        seen.append(done)

    def run() -> None:
        seen.clear()
        launch(text, entry="k", grid=2, block=64, args=args, check=True, native="always", progress=progress)
        assert seen[-1] == 2

    run()
    assert seen == [2]

    def fails(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(Certificates, "begin", fails)
    run()
