"""Modifiers of asynchronous copies, mbarriers, tensor maps and the fabric, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
# Copies
cp multimem applypriority fabric | .async | Asynchronous: the instruction only starts the operation.
cp multimem applypriority | .bulk | In bulk: many bytes, moved by a copy engine and not by the thread.
st | .bulk | In bulk: fills a range of shared memory with zeros.
cp applypriority fabric | .tensor | Of a box of a tensor that a tensor map describes.
cp | .prefetch | Only fetches the data into a cache.
cp | .reduce | Combines the data with what is there, element by element.
multimem | .reduce | Combines the data with what is there, element by element, on all GPUs.
multimem | .cp | Copies to all GPUs that the address maps to.
cp | .commit_group | Makes a group of the copies that the thread has started since the last one.
cp | .wait_group | Waits until at most N groups are still under way, the newest ones.
cp | .wait_all | Waits for all copies that the thread has started.
cp | .read | Waits only until the sources have been read, and may be overwritten.
cp | .sync_restrict::proxy::async | Orders only what later asynchronous operations access.
cp | .sync_restrict::shared::cta | Orders only accesses to the shared memory of the CTA.
cp | .sync_restrict::shared::cluster | Orders only accesses to the shared memory of the cluster.
cp | .mbarrier | Tracks the copies of the thread by an mbarrier.
cp | .arrive | Arrives at the mbarrier as soon as the copies of the thread are done.
cp | .noinc | Does not raise the pending count: the arrival is one of those that the mbarrier expects.
cp multimem applypriority | .bulk_group | Completes by the thread's bulk groups: .commit_group, .wait_group.
.mbarrier::complete_tx::bytes | Completes on an mbarrier, which then waits for so many bytes less.
fabric | .mbarrier::complete_tx::16B | Completes on an mbarrier, whose count sinks by 1 for each 16 bytes.
cp multimem fabric | .cp_mask | A mask says which bytes of each 16 are written.
cp | .ignore_oob | Skips some bytes at either end of the source: they may lie out of bounds.
cp tcgen05 | .multicast::cluster | Goes to all CTAs of the cluster whose bits a mask of 16 bits has.
cp mbarrier tcgen05 | .multicast::cluster::<N>b | Goes to all CTAs of the cluster whose bits a mask of
    <N> bits has.
clusterlaunchcontrol | .multicast::cluster::all | Writes the answer to every CTA of the cluster.
cp tcgen05 | .cta_group::1 | Of one CTA: signals and operands belong to the CTA itself.
cp | .cta_group::2 | Of a pair of CTAs: the mbarrier may be that of either CTA.
cp | .mbarrier::report::disabled | Does not look at the data, which is what happens without a report, too.
cp | .mbarrier::report::validity::per_16bytes::<pattern> | Looks at one element of each 16 bytes, and
    reports on the mbarrier where it is 0x<pattern> (a -0 that marks data as not valid).
cp | .mbarrier::report::validity::per_element::<pattern> | Looks at each element, and reports on the
    mbarrier where one has all bits set (0x<pattern>), which marks data as not valid.

# Tensors
cp applypriority fabric | .<N>d | The tensor has <N> dimensions.
cp applypriority fabric | .tile | Keeps the layout: the box in the tensor becomes a box in shared memory.
cp applypriority | .tile::gather4 | Gathers four rows of a two-dimensional tensor into one box.
cp applypriority | .tile::scatter4 | Scatters one box to four rows of a two-dimensional tensor.
cp applypriority | .im2col | Rearranges boxes around each pixel into columns, as convolutions need them.
cp applypriority | .im2col::w | As .im2col, but the boxes move along the width only.
cp applypriority | .im2col::w::128 | As .im2col::w, always with 128 pixels in a column.
cp applypriority | .im2col_no_offs | Stores columns back into the tensor, without offsets.
cp applypriority | .im2col_no_offs::w | Stores columns back along the width only, without offsets.
cp applypriority fabric | .override::global_address | An operand replaces the address in the tensor map.
cp applypriority fabric | .override::global_dim | An operand replaces the size in the tensor map.
cp applypriority fabric | .override::global_dim_stride | Operands replace the sizes and strides of the tensor.
tensormap | .replace | Changes one field of a tensor map.
tensormap | .tile | The tensor map is of the mode .tile.
tensormap | .cp_fenceproxy | Copies a tensor map to global memory and publishes it.
tensormap | .global_address | The field is the address of the tensor.
tensormap | .rank | The field is the number of dimensions, less 1.
tensormap | .box_dim | The field is the size of the box in one dimension.
tensormap | .global_dim | The field is the size of the tensor in one dimension.
tensormap | .global_stride | The field is the distance in bytes between neighbours in one dimension.
tensormap | .element_stride | The field is the step between the elements taken in one dimension.
tensormap | .elemtype | The field is the type of the elements.
tensormap | .interleave_layout | The field says how channels are interleaved.
tensormap | .swizzle_mode | The field says how shared memory is swizzled.
tensormap | .swizzle_atomicity | The field is the unit in which shared memory is swizzled.
tensormap | .fill_mode | The field selects the value of elements out of bounds: zero or NaN.

# mbarriers
mbarrier | .init | Makes an mbarrier that expects a number of arrivals.
mbarrier | .inval | Ends the mbarrier, so that its memory may be used for something else.
mbarrier | .arrive | Counts an arrival.
mbarrier | .arrive_drop | Counts an arrival, and expects one less in all later phases.
mbarrier | .expect_tx | Lets the phase wait for more bytes of asynchronous copies.
mbarrier | .complete_tx | Counts bytes as if an asynchronous copy had brought them.
mbarrier | .noComplete | Promises that this arrival does not complete the phase.
mbarrier | .test_wait | Asks whether the phase is complete, without waiting.
mbarrier | .try_wait | Waits for the phase, but only for a limited time.
mbarrier | .parity | Names the phase by its parity, 0 or 1, in place of a state.
mbarrier | .phase_type::primary | Of the usual phase, with a report on its asynchronous operations.
mbarrier | .phase_type::conditional | Of the phase that completes only if no operation has reported a failure.
mbarrier | .pending_count | Reads the number of pending arrivals out of a state.
mbarrier | .check_layout | Asks whether the mbarrier has this layout.
mbarrier | .layout::v0 | The first layout of mbarriers: up to 2^20 - 1 arrivals, no reports.
mbarrier | .layout::v1 | The layout that can take reports: up to 511 arrivals.

# The fabric between GPUs
fabric | .try_get | Copies from the fabric to shared memory.
fabric | .try_put | Copies from shared memory to the fabric.
fabric | .try_red | Reduces shared memory into memory on the fabric.
fabric | .try_pullred | Reduces memory of all locations that the endpoint maps to into shared memory.
fabric | .try_atom | An atomic operation on memory on the fabric, with an operand in shared memory.
fabric | .exch | Stores the operand and gives what was there before (exchange).
fabric | .cas | Stores the new value if the first one is there, and gives what was there before.
fabric | .multimem | The endpoint maps to memory of several GPUs.
fabric | .submit | Submits the operations that the thread has started.
fabric | .wait | Waits for submitted operations.
fabric | .commit_group | Makes a group of them, which fabric.wait can count.
fabric | .op_restrict::fetching | Only operations that fetch: try_get and try_pullred.
fabric | .sync_restrict::read | Waits only until shared memory has been read, but for the N newest groups.
fabric | .sync_restrict::reads | Waits only until shared memory has been read, and may be overwritten.
fabric | .mbarrier::report::fabric | Reports on the mbarrier if the fabric fails.
fabric | .counted::bytes | Adds the bytes written to a counter beside the destination.
fabric | .sync | All threads of the mask execute the instruction together.

# Launches of clusters
clusterlaunchcontrol | .try_cancel | Asks to cancel a cluster that has not started.
clusterlaunchcontrol | .query_cancel | Reads the answer of a try_cancel.
clusterlaunchcontrol | .async | Asynchronous: an mbarrier signals when the response is available.
clusterlaunchcontrol | .is_canceled | Asks whether a cluster was canceled.
clusterlaunchcontrol | .get_first_ctaid | Asks for the index of the first CTA of the canceled cluster.
clusterlaunchcontrol | .get_first_ctaid::<axis> | Asks for the <axis> index of the first CTA of the canceled
    cluster.
"""
