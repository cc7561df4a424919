"""Allocation of Tensor Memory, and what is not allowed."""

from __future__ import annotations

import pytest

from ptx_lsp.executor import ExecutionError
from tests.executor.tensor_memory.tensor_kernel import ALLOC, DEALLOC, allocated, registers, run

LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0},"


def test_columns_are_handed_out_from_the_left_and_reused() -> None:
    body = f"""
	@!%first bra done_;
	{ALLOC} [slot], 64;
	ld.shared.b32 %t0, [slot];
	{ALLOC} [slot], 32;
	ld.shared.b32 %t1, [slot];
	{DEALLOC} %t0, 64;
	{ALLOC} [slot], 32;
	ld.shared.b32 %t2, [slot];
	{DEALLOC} %t1, 32;
	{DEALLOC} %t2, 32;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	@%lead st.global.v2.b32 [%out], {{%t0, %t1}};
	@%lead st.global.b32 [%out+8], %t2;
done_:"""
    assert run(body, 3).tolist() == [0, 64, 0]


def test_alloc_waits_for_room() -> None:
    """Warp 1 gets its columns when warp 0, which has all of them, gives them back."""
    body = f"""
	setp.gt.u32 %q, %warp, 1;
	@%q bra done_;
	@!%first bra other;
	{ALLOC} [slot], 512;
	st.shared.b32 [tile], 1;
	bar.sync 1, 64;
	mov.u32 %t0, 0;
	{DEALLOC} %t0, 512;
	bra done_;
other:
	bar.sync 1, 64;
	{ALLOC} [slot], 256;
	ld.shared.b32 %t0, [slot];
	{DEALLOC} %t0, 256;
	@%q bra done_;
	setp.eq.u32 %q, %lane, 0;
	@%q st.global.b32 [%out], 7;
done_:"""
    assert run(body).tolist() == [7]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"@%first {ALLOC} [slot], 64;", "columns 0 to 63 of Tensor Memory are allocated here and never"),
        (f"mov.u32 %t0, 0;\n\t@%first {DEALLOC} %t0, 32;", "the block holds nothing"),
        (f"@%first {ALLOC} [slot], 32;\n\tmov.u32 %t0, 0;\n\t@%first {DEALLOC} %t0, 32;"
         f"\n\t@%first {DEALLOC} %t0, 32;", "were given back before"),
        (f"@%first {ALLOC} [slot], 64;\n\tmov.u32 %t0, 0;\n\t@%first {DEALLOC} %t0, 32;",
         r"the block holds columns 0 to 63 \(line \d+\)"),
        ("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n\tbar.sync 0;\n"
         f"\t@%first {ALLOC} [slot], 32;", "given up the right to allocate"),
        (f"@%first {ALLOC} [slot], 512;\n\t@%first {ALLOC} [slot], 32;",
         "deadlock.*at 32 free columns of Tensor Memory, of which the block holds columns 0 to 511"),
        (f"shl.b32 %t1, %warp, 21;\n\t{LOAD} [%t1];",
         "accesses column 0 of Tensor Memory, but the block holds nothing"),
        (allocated(f"{LOAD} [%t0];"),
         "in lane 0 of Tensor Memory, but warp 1 of a warpgroup may access only 32 of lanes 32 to 63"),
        (allocated(f"{LOAD} [%t1+32];"), "accesses column 32 of Tensor Memory, but the block holds"),
        (allocated("add.u32 %t1, %t1, %lane;\n" f"{LOAD} [%t1];"), "lanes of the warp have different addr"),
        (allocated(f"tcgen05.ld.sync.aligned.32x32b.x2.b32 {registers(2)}, [%t1+511];"),
         r"columns 511 to 512 of Tensor Memory \(there are 512\)"),
    ],
)
def test_misuse(body: str, message: str) -> None:
    with pytest.raises(ExecutionError, match=message) as caught:
        run(body)
    assert caught.value.kind in ("tensor-memory", "deadlock")
    assert caught.value.line > 0
    assert caught.value.lanes


def test_stores_are_seen_after_the_wait() -> None:
    """A load before `tcgen05.wait::st` finds what was there before, or in some orders the new value."""
    body = allocated(f"""
	mov.u32 %r1, 5;
	tcgen05.st.sync.aligned.32x32b.x1.b32 [%t1], {{%r1}};
	{LOAD} [%t1];
	tcgen05.wait::st.sync.aligned;
	tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r2}}, [%t1];
	tcgen05.wait::ld.sync.aligned;
	@%lead st.global.v2.b32 [%out], {{%r0, %r2}};""")
    assert run(body, 2).tolist() == [0, 5]
    assert {tuple(run(body, 2, seed=seed).tolist()) for seed in range(1, 9)} == {(0, 5), (5, 5)}


def test_pairs_of_blocks_allocate_together() -> None:
    pair = ALLOC.replace("::1", "::2"), DEALLOC.replace("::1", "::2")
    body = f"""
	mov.u32 %t2, %cluster_ctarank;
	setp.eq.u32 %q, %t2, 0;
	@!%first bra done_;
	@%q bra even;
	{pair[0]} [slot], 128;
	bra both;
even:
	{pair[0]} [slot], 128;
both:
	ld.shared.b32 %t0, [slot];
	{pair[1]} %t0, 128;
	mul.wide.u32 %rd0, %t2, 4;
	add.u64 %out, %out, %rd0;
	add.u32 %t0, %t0, 1;
	@%lead st.global.b32 [%out], %t0;
done_:"""
    assert run(body, 2, grid=2, cluster=2).tolist() == [1, 1]
    alone = body.replace("@%q bra even;", "@%q bra done_;")
    with pytest.raises(ExecutionError, match="a warp of the other block of the pair"):
        run(alone, 2, grid=2, cluster=2)


def test_each_warp_of_a_pair_needs_one_of_the_other_block() -> None:
    """Two warps of the first block allocate at once, those of the second one after the other."""
    pair = ALLOC.replace("::1", "::2"), DEALLOC.replace("::1", "::2")
    body = f"""
	setp.gt.u32 %q, %warp, 1;
	@%q bra done_;
	mov.u32 %t2, %cluster_ctarank;
	shl.b32 %t3, %warp, 2;
	mov.u32 %t4, tile;
	add.u32 %t3, %t3, %t4;
	setp.eq.u32 %q, %t2, 0;
	@%q bra both;
	@%first bra both;
	bar.sync 1, 64;
both:
	{pair[0]} [%t3], 32;
	setp.eq.and.u32 %q, %t2, 1, %first;
	@%q bra behind;
	bra joined;
behind:
	bar.sync 1, 64;
joined:
	ld.shared.b32 %t0, [%t3];
	{pair[1]} %t0, 32;
	mad.lo.u32 %t5, %t2, 2, %warp;
	mul.wide.u32 %rd0, %t5, 4;
	add.u64 %out, %out, %rd0;
	add.u32 %t0, %t0, 1;
	setp.eq.u32 %q, %lane, 0;
	@%q st.global.b32 [%out], %t0;
done_:"""
    found = run(body, 4, grid=2, cluster=2).tolist()
    assert sorted(found[:2]) == sorted(found[2:])
    assert all(found)


def test_an_allocation_must_not_be_larger_than_the_last_one() -> None:
    body = f"""
	@!%first bra done_;
	{ALLOC} [slot], 32;
	ld.shared.b32 %t0, [slot];
	{ALLOC} [slot], 64;
done_:"""
    with pytest.raises(ExecutionError, match=r"64 columns are allocated after 32 \(line \d+\)"):
        run(body)


def test_an_address_with_a_lane_is_not_that_of_an_allocation() -> None:
    body = f"@%first {ALLOC} [slot], 32;\n\tmov.u32 %t0, 0x200000;\n\t@%first {DEALLOC} %t0, 32;"
    with pytest.raises(ExecutionError, match="0x200000 is not the address of an allocation"):
        run(body)
