"""Every kind of finding: its examples are true, and the findings of the executor are of these kinds."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from ptx_lsp import ptxas
from ptx_lsp.executor import ExecutionError, Finding, launch
from ptx_lsp.finding_kinds.finding_kind import FindingKind
from ptx_lsp.finding_kinds.registry import KINDS

ROOT = Path(__file__).parents[3]
RUN = [one for one in KINDS.values() if not one.is_command]
PLAIN = """
	.reg .pred %p<5>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
	.shared .align 1024 .b32 tile[64];
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tile;
	mad.lo.u32 %r2, %r1, 4, %r2;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
"""
MATRICES = """
	.shared .align 1024 .b32 left[4096];
	.shared .align 1024 .b32 right[256];
	.reg .b32 %q<4>;
	mov.u32 %q0, left; mad.lo.u32 %q1, %r1, 4, %q0;
	st.shared.b32 [%q1], 0; st.shared.b32 [%q1+512], 0;
	st.shared.b32 [%q1+1024], 0; st.shared.b32 [%q1+1536], 0;
	st.shared.b32 [%q1+2048], 0; st.shared.b32 [%q1+2560], 0;
	st.shared.b32 [%q1+3072], 0; st.shared.b32 [%q1+3584], 0;
	mov.u32 %q2, right; mad.lo.u32 %q3, %r1, 4, %q2;
	st.shared.b32 [%q3], 0;
	fence.proxy.async.shared::cta;
"""
WARPGROUP = PLAIN + MATRICES + """
	mov.b32 %f1, 0f00000000; mov.b32 %f2, 0f00000000; mov.b32 %f3, 0f00000000; mov.b32 %f4, 0f00000000;
	bar.sync 0;
	bfe.u32 %q0, %q0, 4, 14; cvt.u64.u32 %rd3, %q0; or.b64 %rd3, %rd3, 0x800400000;
	bfe.u32 %q2, %q2, 4, 14; cvt.u64.u32 %rd4, %q2; or.b64 %rd4, %rd4, 0x800080000;
"""
TENSOR_MEMORY = PLAIN + MATRICES + """
	.shared .align 8 .b64 done;
	.shared .b32 slot;
	setp.eq.u32 %p1, %r1, 0;
	setp.lt.u32 %p2, %r1, 32;
	setp.ne.u32 %p3, %r1, %r1;
	@%p1 mbarrier.init.shared::cta.b64 [done], 1;
	@%p2 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
	@%p2 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	tcgen05.fence::after_thread_sync;
	ld.shared.b32 %r3, [slot];
	shr.u32 %r4, %r1, 5; shl.b32 %r4, %r4, 21; add.u32 %r4, %r4, %r3;
	bfe.u32 %q0, %q0, 4, 14; cvt.u64.u32 %rd3, %q0; or.b64 %rd3, %rd3, 0x400800800000;
	bfe.u32 %q2, %q2, 4, 14; cvt.u64.u32 %rd4, %q2; or.b64 %rd4, %rd4, 0x400800080000;
	mov.b32 %r5, 0x8020010;
"""
TENSOR_MAP = PLAIN + """
	.shared .align 8 .b64 done;
	setp.eq.u32 %p1, %r1, 0;
	add.u64 %rd3, %rd1, 512;
	@!%p1 bra made;
	mbarrier.init.shared::cta.b64 [done], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [done], 64;
	tensormap.replace.tile.global_address.global.b1024.b64 [%rd3], %rd1;
	tensormap.replace.tile.rank.global.b1024.b32 [%rd3], 2;
	tensormap.replace.tile.elemtype.global.b1024.b32 [%rd3], 2;
	tensormap.replace.tile.global_stride.global.b1024.b64 [%rd3], 0, 16;
	tensormap.replace.tile.global_stride.global.b1024.b64 [%rd3], 1, 64;
""" + "".join(
    f"\ttensormap.replace.tile.{field}.global.b1024.b32 [%rd3], {at}, {value};\n"
    for field, values in (("global_dim", (4, 4, 1)), ("box_dim", (4, 4, 1)), ("element_stride", (1, 1, 1)))
    for at, value in enumerate(values)
) + """
	fence.proxy.tensormap::generic.release.gpu;
	fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
made:
	bar.sync 0;
"""
CLUSTER = PLAIN + """
	mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; mapa.shared::cluster.u32 %r3, %r2, %r3;
"""
END = """
	tcgen05.fence::before_thread_sync;
	bar.sync 0;
	@%p2 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;
"""
BESIDE = {
    "cp.async-not-waited": {"uninitialized-memory"}, "mbarrier": {"uninitialized-memory"},
    "divergent": {"divergent-warp"}, "divergent-warp": {"divergent"},
}  # fmt: skip
"""What an example has besides its own kind."""


def kernel(kind: FindingKind, example: str) -> str:
    """A module with an example."""
    before, _, body = example.strip("\n").rpartition("\n\n")
    head, end, target = PLAIN, "", "sm_90a"
    if "warpgroup" in kind.setting:
        head = WARPGROUP
    elif "Tensor Memory" in kind.setting:
        head, end, target = TENSOR_MEMORY, END, "sm_100a"
    elif "cluster" in kind.setting:
        head = CLUSTER
    elif "tensor map" in kind.setting:
        head = TENSOR_MAP
    return (
        f".version 8.6\n.target {target}\n.address_size 64\n{before}\n"
        f".entry k(.param .u64 out)\n{{{head}\n{body}\n{end}\nret;\n}}\n"
    )


def findings(kind: FindingKind, example: str) -> tuple[Finding, ...]:
    blocks = 2 if "two blocks" in kind.setting else 1
    try:
        return launch(
            kernel(kind, example), entry="k", grid=blocks, cluster=(blocks, 1, 1),
            block=64 if "64 threads" in kind.setting else 128, args=[np.zeros(256, np.uint32)], check=True,
            benign=kind.name == "benign-race", limit=200_000, seeds=8 if "--seeds" in kind.summary else 0,
            jobs=1,
        )
    except ExecutionError as error:
        return error.findings or (Finding(error.kind, error.message, error.line),)


@pytest.mark.parametrize("kind", RUN, ids=[one.name for one in RUN])
def test_the_example_has_it_at_the_line_with_a_comment(kind: FindingKind) -> None:
    found = findings(kind, kind.example)
    of_kind = [one for one in found if one.kind == kind.name]
    assert {one.kind for one in found} - BESIDE.get(kind.name, set()) == {kind.name}, found
    assert {one.severity for one in of_kind} == {kind.severity}
    lines = kernel(kind, kind.example).splitlines()
    if kind.name not in ("schedule-dependent", "deadlock", "limit"):  # of no line, or of any of a loop
        assert any("//" in lines[one.line - 1] for one in of_kind), found
    assert (not kind.filter) == kind.stops


@pytest.mark.parametrize("kind", RUN, ids=[one.name for one in RUN])
def test_what_to_use_instead_has_no_finding(kind: FindingKind) -> None:
    assert findings(kind, kind.use_instead) == ()


@pytest.mark.parametrize("kind", RUN, ids=[one.name for one in RUN])
def test_examples_are_legal(kind: FindingKind) -> None:
    judge = ptxas.find()
    if judge is None:
        pytest.skip("no ptxas")
    for example in (kind.example, kind.use_instead):
        report = ptxas.judge(kernel(kind, example).encode(), ptxas=judge)
        assert report.accepted, report.messages


def test_findings_are_of_these_kinds() -> None:
    """Every constant that the executor and the commands give as a kind is in the table."""
    used: set[str] = set()
    for path in (ROOT / "ptx_lsp" / "executor").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                used |= _kinds(node)
    assert len(used) > 20
    assert used <= set(KINDS)


def _kinds(call: ast.Call) -> set[str]:
    """The kinds that a call creates a finding or an error with."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    at = {"ExecutionError": 1, "error": 1, "Finding": 0, "add": 0, "_pair": 0}.get(name)
    if at is None or len(call.args) <= at:
        return set()
    one = call.args[at]
    if name == "add" and len(call.args) < 5:
        return set()
    return {one.value} if isinstance(one, ast.Constant) and isinstance(one.value, str) else set()
