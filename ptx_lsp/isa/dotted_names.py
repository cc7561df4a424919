"""Opcodes whose names have dots, to the lexer of ptxas 13.5: no blank or comment may stand in them.

All that follows a name is modifiers, and before the dot of a modifier white space is free: `mul.lo .s32` is
right, `mul .lo.s32` is not. Found by what ptxas names in `bar.sync 0 OPCODE ;` (docs/ptxas.md, section 1.1).
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

DOTTED_NAMES: Final = frozenset(
    """
    applypriority.async.bulk applypriority.async.bulk.tensor bar.arrive bar.cta bar.red bar.warp
    barrier.arrive barrier.cluster barrier.cluster.arrive barrier.cluster.wait barrier.cta barrier.red
    brx.idx clmad.hi clmad.lo clusterlaunchcontrol.query_cancel clusterlaunchcontrol.try_cancel.async
    cp.async cp.async.bulk cp.async.bulk.commit_group cp.async.bulk.prefetch cp.async.bulk.prefetch.tensor
    cp.async.bulk.tensor cp.async.bulk.wait_group cp.async.commit_group cp.async.mbarrier.arrive
    cp.async.wait_all cp.async.wait_group cp.reduce.async.bulk cp.reduce.async.bulk.tensor createpolicy.cvt
    createpolicy.fractional createpolicy.range cvt.pack cvta.to div.full dp2a.hi dp2a.lo fabric.submit
    fabric.try_atom.async fabric.try_get.async fabric.try_get.async.tensor fabric.try_pullred.async
    fabric.try_put.async fabric.try_put.async.tensor fabric.try_red.async fabric.try_red.async.tensor
    fabric.wait fence.proxy mad.hi mad.lo mad.wide mad24.hi mad24.lo madc.hi madc.lo mbarrier.arrive
    mbarrier.arrive.expect_tx mbarrier.arrive_drop mbarrier.arrive_drop.expect_tx mbarrier.check_layout
    mbarrier.complete_tx mbarrier.expect_tx mbarrier.init mbarrier.inval mbarrier.pending_count
    mbarrier.test_wait mbarrier.test_wait.parity mbarrier.try_wait mbarrier.try_wait.parity membar.proxy
    mul.hi mul.lo mul.wide mul24.hi mul24.lo multimem.cp.async.bulk multimem.cp.reduce.async.bulk
    multimem.ld_reduce multimem.red multimem.red.async multimem.st multimem.st.async pmevent.mask red.async
    setmaxnreg.dec setmaxnreg.inc shf.l shf.r st.async st.bulk suld.b suld.p sured.b sured.p sust.b sust.p
    tcgen05.alloc tcgen05.commit tcgen05.cp tcgen05.dealloc tcgen05.fence tcgen05.ld tcgen05.ld.red
    tcgen05.ld.red.spcompress tcgen05.ld.spcompress tcgen05.mma tcgen05.mma.ws
    tcgen05.relinquish_alloc_permit tcgen05.shift tcgen05.st tcgen05.wait tensormap.cp_fenceproxy
    tensormap.replace tex.base tex.grad tex.level wgmma.commit_group wgmma.fence wgmma.mma_async
    wgmma.wait_group wmma.load.a wmma.load.b wmma.load.c wmma.mma wmma.store.d
    """.split()
)


def name_of(spelling: str) -> str:
    """The name of the opcode that a spelling such as `mul.lo.s32` begins with: the longest there is."""
    name = spelling
    while "." in name and name not in DOTTED_NAMES:
        name = name.rpartition(".")[0]
    return name
