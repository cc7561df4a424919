"""Kernels as CUTLASS writes them: specialised warps, a ring of stages filled by tensor copies, two
accumulators in turn, blocks that take several tiles; with pairs of blocks, and with block scales that
`tcgen05.cp` loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import launch, tensor_map
from ptx_lsp.executor.arithmetic.formats import FORMATS

ROWS, COLUMNS, STAGES, BLOCK = 128, 64, 3, 192
"""Of the tile of a block; the ring; four warps that store, one that copies and one that multiplies."""
ROW = 128
"""Bytes of a row of a stage: one swizzling pattern, four steps along k."""
SCALES = 512
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Pipeline:
    """A kernel: `group` blocks have a tile together; `scaled` is `.kind::mxf8f6f4`, else `.kind::f16`."""

    group: int = 1
    scaled: bool = False

    @property
    def columns(self) -> int:
        """The columns of B that a block loads."""
        return COLUMNS // self.group

    @property
    def stage(self) -> int:
        """The bytes that a block copies into a stage."""
        return ROW * (ROWS + self.columns) + (2 * SCALES if self.scaled else 0)

    def text(self) -> str:
        lines = [*self._set_up(), *self._copies(), *self._products(), *self._results()]
        body = "\n".join(f"\t{line}" for line in lines)
        cluster = f" .reqnctapercluster {self.group}, 1, 1" if self.group > 1 else ""
        return f"{_HEADER.replace('CLUSTER', cluster)}{body}\n{_END.replace('GROUP', str(self.group))}"

    def _set_up(self) -> list[str]:
        both = "barrier.cluster.arrive.aligned;  barrier.cluster.wait.aligned;"
        return [
            f"add.u32 %right, %left, {STAGES * ROW * ROWS};",
            f"add.u32 %scales, %right, {STAGES * ROW * self.columns};",
            *(
                f"@%lead mbarrier.init.shared::cta.b64 [{name}+{8 * at}], {arrivals};"
                for name, count, arrivals in (
                    ("full", STAGES, self.group), ("empty", STAGES, 1), ("done", 2, 1),
                    ("free", 2, 128 * self.group),
                )
                for at in range(count)
            ),
            "@%lead fence.mbarrier_init.release.cluster;  fence.proxy.async.shared::cta;",
            f"@%first tcgen05.alloc.cta_group::{self.group}.sync.aligned.shared::cta.b32 [slot], 256;",
            f"@%first tcgen05.relinquish_alloc_permit.cta_group::{self.group}.sync.aligned;",
            "tcgen05.fence::before_thread_sync;", both if self.group > 1 else "bar.sync 0;",
            "tcgen05.fence::after_thread_sync;", "ld.shared.b32 %base, [slot];",
            f"div.u32 %tile, %block, {self.group};  div.u32 %stride, %grid, {self.group};",
            f"rem.u32 %rank, %block, {self.group};",
            "mov.u32 %stage, 0;  mov.u32 %turn, 0;  mov.u32 %acc, 0;  mov.u32 %phase, 0;",
            "setp.eq.u32 %p, %id, 128;  @%p bra copies;",
            "setp.eq.u32 %p, %id, 160;  @%p bra products;",
            "setp.lt.u32 %p, %id, 128;  @%p bra results;", "bra end;",
        ]

    def _leader(self, barrier: str) -> list[str]:
        """The address of an mbarrier of the first block of the pair, in %at."""
        if self.group == 1:
            return [f"mov.u32 %at, {barrier};"]
        remote = "and.b32 %t0, %myrank, 0xfe;  mapa.shared::cluster.u32 %at, %at, %t0;"
        return [f"mov.u32 %at, {barrier};  {remote}"]

    def _copies(self) -> list[str]:
        group = ".cta_group::2" if self.group > 1 else ""
        copy = f"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes{group}"
        bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
        k = 128 if self.scaled else 64
        scales = [
            "mad.lo.u32 %t0, %stage, 1024, %scales;  mad.lo.u32 %t1, %m, %steps, %k;",
            f"mul.wide.u32 %rd0, %t1, {SCALES};  add.u64 %rd0, %sfa, %rd0;",
            f"{bulk} [%t0], [%rd0], {SCALES}, [%at];",
            "add.u32 %t0, %t0, 512;  mad.lo.u32 %t1, %n, %steps, %k;",
            f"mul.wide.u32 %rd0, %t1, {SCALES};  add.u64 %rd0, %sfb, %rd0;",
            f"{bulk} [%t0], [%rd0], {SCALES}, [%at];",
        ]
        return [
            "copies: setp.ge.u32 %p, %tile, %tiles;  @%p bra end;", *_COORDINATES, "mov.u32 %k, 0;",
            "next_copy: xor.b32 %t0, %turn, 1;  mad.lo.u32 %t1, %stage, 8, %empty;",
            "c0: mbarrier.try_wait.parity.shared::cta.b64 %p, [%t1], %t0;  @!%p bra c0;",
            *self._leader("full"), "mad.lo.u32 %at, %stage, 8, %at;",
            f"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%at], {self.stage};",
            f"mul.lo.u32 %x, %k, {k};  mad.lo.u32 %y, %m, {self.group}, %rank;  mul.lo.u32 %y, %y, {ROWS};",
            f"mad.lo.u32 %t0, %stage, {ROW * ROWS}, %left;",
            f"{copy} [%t0], [%a, {{%x, %y}}], [%at];",
            f"mad.lo.u32 %y, %n, {self.group}, %rank;  mul.lo.u32 %y, %y, {self.columns};",
            f"mad.lo.u32 %t0, %stage, {ROW * self.columns}, %right;",
            f"{copy} [%t0], [%b, {{%x, %y}}], [%at];",
            *(scales if self.scaled else []),
            *_NEXT_STAGE, "add.u32 %k, %k, 1;  setp.lt.u32 %p, %k, %steps;  @%p bra next_copy;",
            "add.u32 %tile, %tile, %stride;  bra copies;",
        ]

    def _products(self) -> list[str]:
        m = ROWS * self.group
        if self.scaled:
            kind, idesc = "mxf8f6f4.block_scale.scale_vec::1X", COLUMNS >> 3 << 17 | 1 << 23 | m >> 7 << 27
        else:
            kind, idesc = "f16", 1 << 4 | COLUMNS >> 3 << 17 | m >> 4 << 24
        group = f"cta_group::{self.group}"
        commit = f"tcgen05.commit.{group}.mbarrier::arrive::one.shared::cluster"
        signal = f"{commit}.multicast::cluster.b64 [%t1], 3;" if self.group > 1 else f"{commit}.b64 [%t1];"
        lines: list[str] = []
        if self.scaled:
            for at, column in ((0, 128), (SCALES, 132)):
                lines += [
                    f"mad.lo.u32 %t0, %stage, 1024, %scales;  add.u32 %t0, %t0, {at};  shr.u32 %t0, %t0, 4;",
                    f"cvt.u64.u32 %rd0, %t0;  or.b64 %rd0, %rd0, {8 << 32 | 1 << 46:#x};",
                    f"add.u32 %t1, %base, {column};",
                    f"tcgen05.cp.{group}.32x128b.warpx4 [%t1], %rd0;",
                ]
        for step in range(4):
            fields = 64 << 32 | 1 << 46 | 2 << 61
            for name, rows, target in (("left", ROWS, "%rd1"), ("right", self.columns, "%rd2")):
                lines += [
                    f"mad.lo.u32 %t0, %stage, {ROW * rows}, %{name};  add.u32 %t0, %t0, {32 * step};",
                    f"shr.u32 %t0, %t0, 4;  cvt.u64.u32 {target}, %t0;",
                    f"or.b64 {target}, {target}, {fields:#x};",
                ]
            tail = ""
            if self.scaled:
                tail = "[%sa], [%sb], "
                lines.append("add.u32 %sa, %base, 128;  add.u32 %sb, %base, 132;")
            lines += [
                f"mov.b32 %idesc, {idesc | (step << 4 | step << 29 if self.scaled else 0):#x};",
                "setp.ne.u32 %q, %k, 0;" if step == 0 else "setp.eq.u32 %q, 0, 0;",
                f"tcgen05.mma.{group}.kind::{kind} [%d], %rd1, %rd2, %idesc, {tail}%q;",
            ]
        return [
            "products: setp.ne.u32 %p, %rank, 0;  @%p bra end;",
            "next_product: setp.ge.u32 %p, %tile, %tiles;  @%p bra end;",
            "xor.b32 %t0, %phase, 1;  mad.lo.u32 %t1, %acc, 8, %free;",
            "p0: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%t1], %t0;  @!%p bra p0;",
            "tcgen05.fence::after_thread_sync;",
            f"mad.lo.u32 %d, %acc, {COLUMNS}, %base;  mov.u32 %k, 0;",
            "next_stage: mad.lo.u32 %t1, %stage, 8, %full;",
            "p1: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p, [%t1], %turn;  @!%p bra p1;",
            *lines, "mad.lo.u32 %t1, %stage, 8, %empty;", signal, *_NEXT_STAGE,
            "add.u32 %k, %k, 1;  setp.lt.u32 %p, %k, %steps;  @%p bra next_stage;",
            "mad.lo.u32 %t1, %acc, 8, %done;", signal, *_NEXT_ACCUMULATOR,
            "add.u32 %tile, %tile, %stride;  bra next_product;",
        ]

    def _results(self) -> list[str]:
        registers = ", ".join(f"%r{at}" for at in range(COLUMNS))
        return [
            "results: shl.b32 %own, %warp, 21;  add.u32 %own, %own, %base;",
            "next_result: setp.ge.u32 %p, %tile, %tiles;  @%p bra end;", *_COORDINATES,
            "mad.lo.u32 %t1, %acc, 8, %done;",
            "r0: mbarrier.try_wait.parity.shared::cta.b64 %p, [%t1], %phase;  @!%p bra r0;",
            "tcgen05.fence::after_thread_sync;", f"mad.lo.u32 %d, %acc, {COLUMNS}, %own;",
            f"tcgen05.ld.sync.aligned.32x32b.x{COLUMNS}.b32 {{{registers}}}, [%d];",
            "tcgen05.wait::ld.sync.aligned;", "tcgen05.fence::before_thread_sync;",
            *self._leader("free"), "mad.lo.u32 %at, %acc, 8, %at;",
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%at];",
            f"mad.lo.u32 %t0, %m, {self.group}, %rank;  mad.lo.u32 %t0, %t0, {ROWS}, %id;",
            f"mad.lo.u32 %t0, %t0, %wide, %n;  mul.wide.u32 %rd0, %t0, {4 * COLUMNS};",
            "add.u64 %rd0, %out, %rd0;",
            *[f"st.global.b32 [%rd0+{4 * at}], %r{at};" for at in range(COLUMNS)],
            *_NEXT_ACCUMULATOR, "add.u32 %tile, %tile, %stride;  bra next_result;",
        ]


_HEADER = """.version 9.0
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 stages[];
.visible .entry pipeline(
	.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 wide,
	.param .u32 tiles, .param .u32 steps, .param .u64 sfa, .param .u64 sfb
)CLUSTER
{
	.shared .align 8 .b64 full[3], empty[3], done[2], free[2];
	.shared .b32 slot;
	.reg .pred %p, %q, %lead, %first;
	.reg .b32 %id, %warp, %block, %grid, %tile, %stride, %tiles, %wide, %steps, %rank, %myrank, %base, %stage;
	.reg .b32 %turn, %acc, %phase, %k, %m, %n, %x, %y, %at, %d, %own, %idesc, %sa, %sb, %t<4>, %r<64>;
	.reg .b32 %left, %right, %scales, %full, %empty, %done, %free;
	.reg .b64 %a, %b, %out, %sfa, %sfb, %rd<4>;
	ld.param.u64 %a, [a];  ld.param.u64 %b, [b];
	ld.param.u64 %out, [out];  ld.param.u64 %sfa, [sfa];  ld.param.u64 %sfb, [sfb];
	ld.param.u32 %wide, [wide];  ld.param.u32 %tiles, [tiles];  ld.param.u32 %steps, [steps];
	mov.u32 %id, %tid.x;  shr.u32 %warp, %id, 5;  mov.u32 %block, %ctaid.x;  mov.u32 %grid, %nctaid.x;
	mov.u32 %myrank, %cluster_ctarank;  setp.eq.u32 %lead, %id, 0;  setp.eq.u32 %first, %warp, 0;
	mov.u32 %left, stages;  mov.u32 %full, full;
	mov.u32 %empty, empty;  mov.u32 %done, done;  mov.u32 %free, free;
"""
_END = """
end:
	bar.warp.sync -1;
	tcgen05.fence::before_thread_sync;
	barrier.cluster.arrive.aligned;  barrier.cluster.wait.aligned;
	@%first tcgen05.dealloc.cta_group::GROUP.sync.aligned.b32 %base, 256;
	ret;
}
"""
_COORDINATES = ["div.u32 %m, %tile, %wide;  rem.u32 %n, %tile, %wide;"]
_NEXT_STAGE = [
    f"add.u32 %stage, %stage, 1;  setp.eq.u32 %p, %stage, {STAGES};  selp.u32 %stage, 0, %stage, %p;",
    "selp.u32 %t0, 1, 0, %p;  xor.b32 %turn, %turn, %t0;",
]
_NEXT_ACCUMULATOR = ["xor.b32 %acc, %acc, 1;  xor.b32 %t0, %acc, 1;  xor.b32 %phase, %phase, %t0;"]


def run(
    pipeline: Pipeline, sides: Sequence[npt.NDArray[np.generic]], shape: tuple[int, int], steps: int,
    blocks: int, seed: int, scales: tuple[Bytes, Bytes],
) -> npt.NDArray[np.float32]:
    m, n = shape
    out = np.zeros(shape, np.float32)
    boxes = ((ROWS, ROW // sides[0].itemsize), (pipeline.columns, ROW // sides[1].itemsize))
    maps = [tensor_map(side, box=box, swizzle="128B") for side, box in zip(sides, boxes, strict=True)]
    sizes = (n // COLUMNS, m // (ROWS * pipeline.group) * (n // COLUMNS), steps)
    found = launch(
        pipeline.text(), entry="pipeline", grid=blocks, block=BLOCK, seed=seed, check=True,
        shared_bytes=STAGES * pipeline.stage,
        args=[*maps, out, *map(np.uint32, sizes), *scales],
    )
    assert found == ()
    return out


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("group", "blocks"), [(1, 1), (1, 2), (2, 2), (2, 4)])
def test_halves(group: int, blocks: int, seed: int) -> None:
    random = np.random.default_rng(blocks)
    m, n, k = 2 * ROWS * group, 2 * COLUMNS, 256
    a, b = ((random.integers(-8, 9, (side, k)) / 4).astype(np.float16) for side in (m, n))
    none = np.zeros(1, np.uint8), np.zeros(1, np.uint8)
    found = run(Pipeline(group), (a, b), (m, n), k // 64, blocks, seed, none)
    assert np.array_equal(found, a.astype(np.float64) @ b.astype(np.float64).T)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_block_scales(seed: int) -> None:
    """Each stage has its scales: 32 rows of 16 bytes, those of rows r, r + 32, r + 64 and r + 96 in row r."""
    random = np.random.default_rng(seed)
    m, n, k = 2 * ROWS, 2 * COLUMNS, 384
    e4m3 = FORMATS[".e4m3"]  # 0, 1, 2, 4, -1 and -2, whose sums are exact
    codes = np.array([0x00, 0x38, 0x40, 0x48, 0xB8, 0xC0], np.uint8)
    sides = tuple(random.choice(codes, (side, k)) for side in (m, n))
    exponents = tuple(random.integers(125, 130, (side, k // 32)).astype(np.uint8) for side in (m, n))
    packed = (_packed(exponents[0], ROWS), _packed(exponents[1], COLUMNS))
    found = run(Pipeline(scaled=True), sides, (m, n), k // 128, 2, seed, packed)
    a, b = (
        np.asarray(e4m3.decoded(side.astype(np.uint32)), np.float64)
        * np.repeat(2.0 ** (scale - 127.0), 32, axis=1)
        for side, scale in zip(sides, exponents, strict=True)
    )
    assert np.array_equal(found, (a @ b.T).astype(np.float32))


def _packed(scales: Bytes, rows: int) -> Bytes:
    """The scales of each tile and stage, as `tcgen05.cp.32x128b.warpx4` takes them."""
    tiles, steps = scales.shape[0] // rows, scales.shape[1] // 4
    found = np.zeros((tiles, steps, 32, 4, 4), np.uint8)
    parts = scales.reshape(tiles, rows // 32, 32, steps, 4).transpose(0, 3, 2, 1, 4)
    found[:, :, :, : rows // 32] = parts
    return found


@pytest.mark.parametrize("pipeline", [Pipeline(), Pipeline(group=2), Pipeline(scaled=True)])
def test_ptxas_takes_them(pipeline: Pipeline) -> None:
    tool = ptxas.find()
    if tool is None:
        pytest.skip("no ptxas")
    report = ptxas.judge(pipeline.text().encode(), ptxas=tool)
    assert report.accepted, report.messages
