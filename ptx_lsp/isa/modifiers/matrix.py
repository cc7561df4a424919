"""Modifiers of matrix instructions and Tensor Memory, as `lookup` reads them."""

from __future__ import annotations

from typing import Final

TEXT: Final = """
# Shapes and layouts
mma wmma | .m<M>n<N>k<K> | A is <M> by <K>, B is <K> by <N>, and the sum is <M> by <N> elements.
wgmma | .m<M>n<N>k<K> | A is <M> by <K>, B is <K> by <N>, and the sum is <M> by <N> elements, by four warps.
ldmatrix movmatrix stmatrix | .m<M>n<N> | Matrices with <M> rows of <N> elements.
ldmatrix stmatrix | .x1 | Moves one matrix.
ldmatrix stmatrix | .x<N> | Moves <N> matrices.
ldmatrix movmatrix stmatrix | .trans | Transposes each matrix on the way.
ldmatrix tcgen05 | .b8x16 | The destination has 16 elements of 8 bits, each.
ldmatrix tcgen05 | .b6x16_p32 | The source has 16 packed elements of 6 bits and 32 bits of padding.
ldmatrix tcgen05 | .b4x16_p64 | The source has 16 packed elements of 4 bits and 64 bits of padding.
mma wmma | .row | The matrix lies row by row.
mma wmma | .col | The matrix lies column by column.
wmma | .load | Loads a matrix into the fragments of a warp.
wmma | .store | Stores a matrix from the fragments of a warp.
wmma | .mma | Multiplies matrices that are in fragments.
wmma | .a | The left factor A.
wmma | .b | The right factor B.
wmma | .c | The addend C.
wmma | .d | The result D.

# Multiplication
mma wmma | .xor | Combines single bits by an exclusive or, in place of multiplying.
mma wgmma wmma | .and | Combines single bits by an and, in place of multiplying.
mma wgmma wmma | .popc | Adds up single bits by counting those that are 1.
mma | .sp | A is sparse: only its nonzero elements are given, with metadata that specifies their positions.
mma | .sp::ordered_metadata | A is sparse, and the indices in its metadata are in increasing order.
wgmma | .sp | A is sparse: only its nonzero elements are given, with metadata that specifies their positions.
tcgen05 | .sp | A is sparse, and metadata in Tensor Memory specifies the positions of its elements.
mma tcgen05 | .block_scale | Multiplies each block of A and B by a scale factor of its own.
mma tcgen05 | .scale_vec::1X | One scale factor for each row of A and column of B.
mma tcgen05 | .scale_vec::<N>X | <N> scale factors for each row of A and column of B, cut into <N> blocks.
tcgen05 | .block<N> | One scale factor for each block of <N> elements.
mma | .kind::f8f6f4 | Factors of 8, 6 and 4 bits, which may be of different float types.
mma | .kind::mxf8f6f4 | Factors of 8, 6 and 4 bits with a scale factor (.ue8m0) for each block.
mma | .kind::mxf4 | Factors of 4 bits (.e2m1) with a scale factor (.ue8m0) for each block.
mma | .kind::mxf4nvf4 | Factors of 4 bits (.e2m1) with a scale factor (.ue8m0 or .ue4m3) for each block.
tcgen05 | .kind::f16 | Factors of type .f16 or .bf16.
tcgen05 | .kind::tf32 | Factors of type .tf32.
tcgen05 | .kind::i8 | Factors of type .u8 or .s8, and sums of .s32.
tcgen05 | .kind::f8f6f4 | Factors of 8, 6 and 4 bits, which may be of different float types.
tcgen05 | .kind::mxf8f6f4 | Factors of 8, 6 and 4 bits with a scale factor (.ue8m0) for each block.
tcgen05 | .kind::mxf4 | Factors of 4 bits (.e2m1) with a scale factor (.ue8m0) for each block.
tcgen05 | .kind::mxf4nvf4 | Factors of 4 bits (.e2m1) with a scale factor (.ue8m0 or .ue4m3) for each block.
wgmma | .mma_async | Starts a multiplication by a warpgroup.
wgmma | .fence | Orders earlier accesses to registers before the multiplications that use them.
wgmma | .commit_group | Makes a group of the multiplications since the last one.
wgmma | .wait_group | Waits until at most N groups are still under way, the newest ones.

# Tensor Memory
tcgen05 | .alloc | Allocates columns of Tensor Memory.
tcgen05 | .dealloc | Gives columns of Tensor Memory back.
tcgen05 | .exclusive | The allocation is exclusive: it must be given back with .exclusive, too.
tcgen05 | .relinquish_alloc_permit | Declares that this CTA allocates no more.
tcgen05 | .ld | Loads from Tensor Memory into registers.
tcgen05 | .st | Stores registers into Tensor Memory.
tcgen05 | .red | Also reduces what each thread loads to one value.
tcgen05 | .spcompress | Picks some of the elements loaded, and gives them and their indices.
tcgen05 | .abs | Reduces the magnitudes of the values.
tcgen05 | .cp | Copies from shared memory into Tensor Memory.
tcgen05 | .shift | Moves rows in Tensor Memory.
tcgen05 | .down | Moves all rows but the last down by one.
tcgen05 | .mma | Multiplies matrices by the tensor cores of a CTA, or of a pair of CTAs.
tcgen05 | .ws | Stationary weights: B stays in a collector buffer.
tcgen05 | .commit | Lets an mbarrier track the operations that the thread has started.
tcgen05 | .sync_restrict::shared::read::mma::a | Only until the products have read A from shared memory.
tcgen05 | .sync_restrict::shared::cta | Orders only accesses to the shared memory of the CTA.
tcgen05 | .sync_restrict::shared::cluster | Orders only accesses to the shared memory of the cluster.
tcgen05 | .wait::ld | Waits for all loads of the thread.
tcgen05 | .wait::st | Waits for all stores of the thread.
tcgen05 | .fence::before_thread_sync | Orders earlier tcgen05 operations before the synchronization that
    follows.
tcgen05 | .fence::after_thread_sync | Orders later tcgen05 operations after the synchronization that came
    before.
tcgen05 | .mbarrier::arrive::one | Completion counts as one arrival at the mbarrier.
tcgen05 | .cta_group::2 | Of a pair of CTAs, which work together on both their Tensor Memories.
tcgen05 | .32x32b | The warp's 32 lanes with 32 bits in each: a row for a thread.
tcgen05 | .16x32bx2 | Two pieces of 16 lanes with 32 bits in each; an operand gives their distance.
tcgen05 | .<L>x<B>b | A piece of <L> lanes with <B> bits in each.
tcgen05 | .x1 | One piece of the shape.
tcgen05 | .x<N> | <N> pieces of the shape, side by side in the columns.
tcgen05 | .pack::16b | Packs 16-bit values of two neighbouring columns into one register.
tcgen05 | .unpack::16b | Unpacks each register into 16-bit values for two neighbouring columns.
tcgen05 | .warpx4 | Copies the same 32 lanes to the parts of all four warps.
tcgen05 | .warpx2::02_13 | Copies half of the lanes to warps 0 and 2, the other half to warps 1 and 3.
tcgen05 | .warpx2::01_23 | Copies half of the lanes to warps 0 and 1, the other half to warps 2 and 3.
tcgen05 | .ashift | Shifts the rows of A down by one in Tensor Memory, but for the last.
tcgen05 | .collector::<buffer>::fill | Reads the matrix into collector buffer <buffer>, and keeps it there.
tcgen05 | .collector::<buffer>::use | Takes the matrix in collector buffer <buffer>, and keeps it there.
tcgen05 | .collector::<buffer>::lastuse | Takes the matrix in collector buffer <buffer> for the last time.
tcgen05 | .collector::<buffer>::discard | Reads the matrix, and keeps nothing in collector buffer <buffer>.
"""
