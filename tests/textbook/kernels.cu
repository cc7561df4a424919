// Kernels as textbooks have them. With BUG=1, 2 or 3, many have one of the usual mistakes; `kernels.py` says
// what each computes, and what finds its mistakes.
#ifndef BUG
#define BUG 0
#endif
#define ALL 0xffffffffu

// -- reductions --------------------------------------------------------------------------------------------

// Threads past the end of the data exit before a loop with barriers.
extern "C" __global__ void reduce_early_exit(const float *in, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int live = min((int)blockDim.x, n - (int)(blockIdx.x * blockDim.x));
    if (i >= n) return;
    part[t] = in[i];
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
#if BUG == 1 // some threads only come to the barrier
        if (t < d && t + d < live) {
            part[t] += part[t + d];
            __syncthreads();
        }
#elif BUG == 3 // no guard: threads that have exited have written nothing
        if (t < d) part[t] += part[t + d];
        __syncthreads();
#else
        if (t < d && t + d < live) part[t] += part[t + d];
#if BUG != 2 // a missing barrier
        __syncthreads();
#endif
#endif
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

// The exit is not one: all threads store at the end.
extern "C" __global__ void reduce_all_store(const float *in, float *out, float *copy, int n)
{
    __shared__ float part[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    float value = i < n ? in[i] : 0.0f;
#if BUG == 1
    if (i < n) {
#endif
    part[t] = value;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (t < d) part[t] += part[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = part[0];
#if BUG == 1
    }
#endif
    copy[i] = value;
}

// In each round, the threads that have nothing left to do exit.
extern "C" __global__ void reduce_exit_in_loop(const float *in, float *out)
{
    __shared__ float part[128];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * blockDim.x + t];
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
#if BUG != 1 // a missing barrier
        __syncthreads();
#endif
        if (t >= d) return;
        part[t] += part[t + d];
    }
    out[blockIdx.x] = part[0];
}

// Neighbours first; the condition is modular.
extern "C" __global__ void reduce_interleaved(const int *in, int *out)
{
    __shared__ int part[128];
    int t = threadIdx.x;
#if BUG == 2 // what most threads should load is not initialised
    if (t % 4 == 0)
#endif
    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0) {
            part[t] += part[t + d];
#if BUG == 1 // a barrier in divergent code
            __syncthreads();
#endif
        }
#if BUG != 1
        __syncthreads();
#endif
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__device__ __forceinline__ int warp_sum(int value)
{
    for (int d = 16; d > 0; d >>= 1)
#if BUG == 2 // not all lanes that execute it are in the mask
        value += __shfl_down_sync(0x0000ffffu, value, d);
#else
        value += __shfl_down_sync(ALL, value, d);
#endif
    return value;
}

// Sums of warps by shuffles, then of the block by its first warp.
extern "C" __global__ void reduce_shuffle(const int *in, int *out, int n)
{
    __shared__ int part[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, sum = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0) part[warp] = sum;
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    if (warp > 0) return;
#if BUG == 3 // more sums than there are warps
    sum = part[lane];
#else
    sum = lane < blockDim.x / 32 ? part[lane] : 0;
#endif
    sum = warp_sum(sum);
    if (lane == 0) atomicAdd(out, sum);
}

// A warp for each row; warps without a row exit.
extern "C" __global__ void matvec_warp(const int *a, const int *x, int *y, int rows, int columns)
{
    int lane = threadIdx.x % 32;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
#if BUG == 1 // one row too many
    if (row > rows) return;
#else
    if (row >= rows) return;
#endif
    int sum = 0;
    for (int j = lane; j < columns; j += 32) sum += a[row * columns + j] * x[j];
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

// A grid-stride loop whose threads leave it at different times, then a barrier for all.
extern "C" __global__ void dot(const float *a, const float *b, float *out, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += a[i] * b[i];
#if BUG == 2 // a barrier in a loop that threads leave at different times
        __syncthreads();
#endif
    }
    atomicAdd(&total, sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, total);
}

// -- scans -------------------------------------------------------------------------------------------------

// Hillis and Steele, with two buffers.
extern "C" __global__ void scan_two_buffers(const int *in, int *out)
{
    __shared__ int buffer[2][128];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
#if BUG == 1 // one buffer
        buffer[0][t] += t >= d ? buffer[0][t - d] : 0;
#elif BUG == 2 // reads before the first element
        buffer[1 - from][t] = buffer[from][t] + buffer[from][t - d];
        from = 1 - from;
#else
        buffer[1 - from][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
        from = 1 - from;
#endif
        __syncthreads();
    }
    out[t] = buffer[from][t];
}

// Blelloch: up the tree and down again.
extern "C" __global__ void scan_tree(const int *in, int *out)
{
    __shared__ int tree[128];
    int t = threadIdx.x;
    tree[2 * t] = in[2 * t];
    tree[2 * t + 1] = in[2 * t + 1];
    int offset = 1;
    for (int d = 64; d > 0; d >>= 1) {
#if BUG == 1 // the barrier only for those that add
        if (t < d) __syncthreads();
#else
        __syncthreads();
#endif
        if (t < d) tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) tree[127] = 0;
    for (int d = 1; d < 128; d *= 2) {
        offset >>= 1;
#if BUG != 2 // a missing barrier
        __syncthreads();
#endif
        if (t < d) {
            int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
            int value = tree[left];
            tree[left] = tree[right];
            tree[right] += value;
        }
    }
    __syncthreads();
    out[2 * t] = tree[2 * t];
#if BUG == 3 // off by one
    out[2 * t + 2] = tree[2 * t + 1];
#else
    out[2 * t + 1] = tree[2 * t + 1];
#endif
}

// In a warp, by shuffles; then over the sums of the warps.
extern "C" __global__ void scan_shuffle(const int *in, int *out, int n)
{
    __shared__ int sums[4];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t & 31;
    int value = i < n ? in[i] : 0;
#if BUG == 1 // lanes name others that do not come
    for (int d = 1; d < 32; d *= 2)
        if (lane >= d) value += __shfl_up_sync(ALL, value, d);
#else
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(ALL, value, d);
        if (lane >= d) value += other;
    }
#endif
    if (lane == 31) sums[t >> 5] = value;
    __syncthreads();
    for (int w = 0; w < t >> 5; w++) value += sums[w];
    if (i < n) out[i] = value;
}

// -- tiles -------------------------------------------------------------------------------------------------

// A product of matrices whose sizes need not be multiples of the tile.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[8][8], right[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, column = blockIdx.x * 8 + x;
#if BUG == 3 // threads exit that should load a part of the tile
    if (row >= n || column >= n) return;
#endif
    float sum = 0.0f;
    for (int k = 0; k < n; k += 8) {
        left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0.0f;
        right[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0.0f;
#if BUG != 1 // a missing barrier
        __syncthreads();
#endif
        for (int j = 0; j < 8; j++) sum += left[y][j] * right[j][x];
#if BUG != 2 // a missing barrier
        __syncthreads();
#endif
    }
    if (row < n && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
#if BUG == 2 // off by one
        if (x <= height && y + j < width) out[(y + j) * height + x + 1] = tile[threadIdx.x][threadIdx.y + j];
#else
        if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
#endif
}

// -- histograms and compaction -----------------------------------------------------------------------------

extern "C" __global__ void histogram(const unsigned char *data, int *counts, int n)
{
    __shared__ int local[64];
    int t = threadIdx.x;
#if BUG != 2 // counters that are not initialised
    for (int i = t; i < 64; i += blockDim.x) local[i] = 0;
#endif
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
#if BUG == 3 // no atomic operation
        local[data[i] & 63]++;
#else
        atomicAdd(&local[data[i] & 63], 1);
#endif
    __syncthreads();
    for (int i = t; i < 64; i += blockDim.x) atomicAdd(&counts[i], local[i]);
}

// Warps find their places by votes; threads past the end have left.
extern "C" __global__ void compact(const int *in, int *out, int *count, int n)
{
    __shared__ int base;
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    if (threadIdx.x == 0) base = 0;
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    if (i >= n) return;
    int keeps = in[i] > 0;
#if BUG == 2 // lane 0 and a few others are not in the mask
    unsigned votes = __ballot_sync(0xfffffff0u, keeps);
#else
    unsigned votes = __ballot_sync(ALL, keeps);
#endif
    int place = 0;
    if (lane == 0) place = atomicAdd(&base, __popc(votes));
    place = __shfl_sync(ALL, place, 0) + __popc(votes & ((1u << lane) - 1));
    if (keeps) out[blockIdx.x * blockDim.x + place] = in[i];
#if BUG == 3 // not before all have added
    if (threadIdx.x == 0) count[blockIdx.x] = base;
#else
    __syncthreads();
    if (threadIdx.x == 0) count[blockIdx.x] = base;
#endif
}

// -- stencils ----------------------------------------------------------------------------------------------

// The sum of seven neighbours; a halo of three on either side.
extern "C" __global__ void stencil(const int *in, int *out, int n)
{
    __shared__ int tile[64 + 6];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t + 3] = i < n ? in[i] : 0;
#if BUG != 2 // no halo
    if (t < 3) {
        tile[t] = i >= 3 ? in[i - 3] : 0;
#if BUG == 3 // past the end of the tile
        tile[t + 67 + 3] = i + 64 < n ? in[i + 64] : 0;
#else
        tile[t + 67] = i + 64 < n ? in[i + 64] : 0;
#endif
    }
#endif
    if (i >= n && t >= 3) return;
#if BUG != 1 // a missing barrier
    __syncthreads();
#endif
    if (i >= n) return;
    int sum = 0;
    for (int j = 0; j < 7; j++) sum += tile[t + j];
    out[i] = sum;
}

// Steps until nothing changes any more: a loop that all threads leave together, by a vote at the barrier.
extern "C" __global__ void relax(const int *from, int *out, int n)
{
    __shared__ int least[128];
    int t = threadIdx.x;
    if (t >= n) return;
    least[t] = from[t];
    __syncthreads();
    int changes;
    do {
        int left = t > 0 ? least[t - 1] + 1 : least[t];
#if BUG != 1 // a missing barrier
        __syncthreads();
#endif
        changes = left < least[t];
        if (changes) least[t] = left;
#if BUG == 2 // each thread leaves the loop by itself
        __syncthreads();
    } while (changes);
#else
    } while (__syncthreads_or(changes));
#endif
    out[t] = least[t];
}

// -- sorts -------------------------------------------------------------------------------------------------

extern "C" __global__ void bitonic(int *data)
{
    __shared__ int keys[128];
    int t = threadIdx.x;
    keys[t] = data[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((keys[t] > keys[other]) == up) {
                    int key = keys[t];
                    keys[t] = keys[other];
                    keys[other] = key;
                }
#if BUG == 2 // a barrier in divergent code
                __syncthreads();
#endif
            }
#if BUG == 0 || BUG == 3 // a missing barrier
            __syncthreads();
#endif
        }
#if BUG == 3 // another index than was meant
    data[blockIdx.x * 128 + t + 1] = keys[t];
#else
    data[blockIdx.x * 128 + t] = keys[t];
#endif
}

__device__ __noinline__ void order(int *a, int *b)
{
    int low = min(*a, *b), high = max(*a, *b);
    *a = low;
    *b = high;
}

// Neighbours by turns, in rounds; the function stays a call.
extern "C" __global__ void odd_even(int *data, int n)
{
    __shared__ int keys[64];
    int t = threadIdx.x;
    if (t >= n) return;
    keys[t] = data[t];
    for (int round = 0; round < n; round++) {
#if BUG != 1 // a missing barrier
        __syncthreads();
#endif
#if BUG == 2 // a pair past the last key
        if (t % 2 == round % 2) order(&keys[t], &keys[t + 1]);
#else
        if (t % 2 == round % 2 && t + 1 < n) order(&keys[t], &keys[t + 1]);
#endif
    }
    __syncthreads();
    data[t] = keys[t];
}

// -- functions ---------------------------------------------------------------------------------------------

// A body with early exits, which is inlined where the kernel ends.
__device__ __forceinline__ void shift_body(const int *in, int *out, int n)
{
    __shared__ int row[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    row[threadIdx.x] = in[i];
    __syncthreads();
    if (threadIdx.x == 0) return;
    int value = row[threadIdx.x - 1];
    out[i] = value;
}

extern "C" __global__ void shift(const int *in, int *out, int n)
{
#if BUG == 1 // work of all threads after the body
    shift_body(in, out, n);
    out[n + threadIdx.x] = threadIdx.x;
#else
    shift_body(in, out, n);
#endif
}

// Some threads write something of their own, and return.
extern "C" __global__ void turn(const int *in, int *out, int *idle, int n)
{
    __shared__ int row[128];
    int t = threadIdx.x;
    if (t >= n) {
        atomicAdd(idle, 1);
        return;
    }
    row[t] = in[t];
    for (int round = 0; round < 3; round++) {
        __syncthreads();
        int next = row[t + 1 < n ? t + 1 : 0];
#if BUG != 1 // a missing barrier
        __syncthreads();
#endif
        row[t] = next;
    }
    out[t] = row[t];
}
