"""Modifiers of loads, stores, atomics, caches and memory ordering, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
# Ordering, and who is to see it
.weak | An ordinary access: other threads may see it only after they have synchronized with this one.
.relaxed | A strong access without ordering: the scope agrees on it, but nothing else is ordered by it.
.acquire | Later accesses of the thread stay after this one, and see what a matching release published.
.release | Earlier accesses of the thread become visible before this one to whoever acquires it.
.acq_rel | Acquires and releases: earlier accesses stay before, later ones after.
.volatile | Never removed, merged or reordered by the compiler; as strong as .relaxed at system scope.
.mmio | An access to a device's memory: performed exactly once, unchanged.
.sys | Counts for all threads of the system: every GPU, and the host.
.gpu | Counts for all threads of this GPU.
.cluster | Counts for all threads of the cluster.
.cta | Counts for all threads of the CTA.
membar | .gl | Counts for all threads of this GPU.
fence | .sc | Sequential consistency: all fences of this kind have one order that everybody agrees on.
fence | .acquire | Later accesses stay after the fence, and see what a matching release published.
fence | .release | Earlier accesses become visible before what follows the fence.
fence membar | .proxy | Orders accesses that reach memory in different ways (proxies).
fence membar | .alias | Between accesses to the same memory by different virtual addresses.
fence | .async | Between ordinary accesses and those of asynchronous copies (the async proxy).
fence | .async::generic | One way, between the asynchronous and the ordinary (generic) proxy.
fence | .fabric::fabric | Between accesses that both go over the fabric.
fence | .fabric::generic | From accesses over the fabric to ordinary (generic) ones.
fence | .generic::fabric | From ordinary (generic) accesses to those over the fabric.
fence tensormap | .tensormap::generic | From ordinary writes to a tensor map to its use by tensor copies.
tensormap | .release | Makes the copied tensor map visible to whoever acquires it.
fence | .mbarrier_init | Only earlier initializations of mbarriers by this thread are released.
fence | .sync_restrict::read | Orders only earlier reads.
fence | .sync_restrict::shared::cta | Orders only accesses to the shared memory of the CTA.
fence | .sync_restrict::shared::cluster::read | Orders only reads of the shared memory of the cluster.
fence | .sync_restrict::shared::cluster | Orders only accesses to the shared memory of the cluster.

# Caches
.ca | Caches in all levels, L1 and L2: the data will probably be used again.
.cg | Caches in L2 and not in L1.
.cs | Caches as streaming data, to be evicted first: it will probably be used only once.
ld | .lu | Last use: the cache line is not needed any more and need not be written back.
.cv | Does not cache, and fetches again on each load: somebody else may write there.
.wb | Writes back through all cache levels, as caches usually do.
.wt | Writes through the L2 cache to system memory.
ld | .nc | Loads by the read-only cache: nothing may write there while the kernel runs.
ld | .proxy::readonly | Loads by the read-only proxy: for data that nothing writes while the kernel runs.
.L1::evict_normal | Gives the line the usual priority in L1.
.L1::evict_first | Gives the line a low priority in L1: among the first to be evicted.
.L1::evict_last | Gives the line a high priority in L1: evicted after the others.
.L1::evict_unchanged | Leaves the line's priority in L1 unchanged.
.L1::no_allocate | Does not bring the data into L1.
.L2::evict_normal | Gives the line the usual priority in L2.
.L2::evict_first | Gives the line a low priority in L2: among the first to be evicted.
.L2::evict_last | Gives the line a high priority in L2: evicted after the others.
.L2::cache_hint | The last operand is a cache policy that createpolicy made; a hint that may be ignored.
.L2::<N>B | Hints that the <N> bytes around the address be fetched into L2 as well.
createpolicy | .L2::evict_normal | The chosen accesses get the usual priority in L2.
createpolicy | .L2::evict_first | The chosen accesses (or, in second place, the others) are evicted first.
createpolicy | .L2::evict_last | The chosen accesses are evicted last.
createpolicy | .L2::evict_unchanged | The chosen accesses (or, in second place, the others) change no
    priority.
createpolicy | .range | Chooses accesses by address: a primary range from a on, and the rest of a larger one.
createpolicy | .fabric | Chooses accesses to a range on the fabric, by a logical endpoint and an offset in it.
createpolicy | .fractional | Chooses a fraction of all accesses, by their addresses.
createpolicy | .cvt | Makes the policy of an access property of the CUDA API.
createpolicy | .L2 | The policy is for the L2 cache.
discard | .L2 | Drops the data from L2.
prefetch prefetchu | .L1 | Fetches into L1.
prefetch | .L2 | Fetches into L2.
cp | .L2 | Fetches into the L2 cache.
prefetch | .L1::32B | Fetches 32 bytes into L1.
prefetch | .valid_addr | Promises that the address is valid, so that it need not be checked.
prefetch | .tensormap | Fetches a tensor map, for the tensor copies that follow.

# Loads, stores, addresses
.v<N> | A vector of <N> elements, which the operand lists in braces.
mov | .v<N> | A vector of <N> elements.
ld ldu atom | .unified | Promises that the address is the same on all GPUs: a unified address.
cvta | .to | Converts from a generic address to one in the state space; without it, the other way.
cvta | .u32 .u64 | The size of an address.
isspacep | .global | Asks whether the address lies in global memory.
isspacep | .shared | Asks whether the address lies in shared memory.
isspacep | .local | Asks whether the address lies in local memory.
isspacep | .const | Asks whether the address lies in constant memory.
isspacep | .param | Asks whether the address lies among the parameters of the kernel.
isspacep | .param::entry | Asks whether the address lies among the parameters of the kernel.
isspacep | .shared::cta | Asks whether the address lies in the shared memory of the CTA.
isspacep | .shared::cluster | Asks whether the address lies in the shared memory of the cluster.
istypep | .texref | Asks whether the address is that of a texture.
istypep | .samplerref | Asks whether the address is that of a sampler.
istypep | .surfref | Asks whether the address is that of a surface.

# Atomic operations and reductions
atom red multimem fabric redux sured | .add | Takes the sum.
atom red multimem fabric redux tcgen05 sured | .min | Takes the smaller value.
atom red multimem fabric redux tcgen05 sured | .max | Takes the larger value.
atom red multimem fabric redux sured | .and | Combines bit by bit: both must be 1.
atom red multimem fabric redux sured | .or | Combines bit by bit: one must be 1.
atom red multimem fabric redux | .xor | Combines bit by bit: exactly one must be 1.
atom red multimem | .inc | Adds 1, or goes back to 0 where the old value has reached the operand.
atom red multimem | .dec | Subtracts 1, or goes to the operand where the old value is 0 or above the operand.
cp | .add | Adds each element to the one in memory.
cp | .min | Leaves the smaller one of each pair of elements in memory.
cp | .max | Leaves the larger one of each pair of elements in memory.
cp | .and | Combines each element with the one in memory, bit by bit: both must be 1.
cp | .or | Combines each element with the one in memory, bit by bit: one must be 1.
cp | .xor | Combines each element with the one in memory, bit by bit: exactly one must be 1.
cp | .inc | Adds 1 to each element, or sets it to 0 where it has reached the operand's.
cp | .dec | Subtracts 1 from each element, or sets it to the operand's where it is 0 or above that.
atom | .exch | Stores the operand and gives what was there before (exchange).
atom | .cas | Stores c if b is there, and gives what was there before (compare and swap).
.noftz | Keeps subnormal inputs and results, in place of flushing them to zero.
multimem fabric | .acc::f16 | Adds up in .f16.
multimem fabric | .acc::f32 | Adds up in .f32, which is more exact than the type itself.
red st | .async | Asynchronous: performed later, without waiting for it.
multimem | .ld_reduce | Loads from all GPUs that the address maps to and reduces to one value.
multimem | .st | Stores to all GPUs that the address maps to.
multimem | .red | Reduces into the memory of all GPUs that the address maps to.
"""
