// Compiled to the PTX beside it by nvcc 13.5 with CCCL 13.3: nvcc -ptx -arch=compute_90 -std=c++17
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void gsum(int *data, int *out, int n) {
  cg::grid_group g = cg::this_grid();
  int i = g.thread_rank();
  for (int s = 1; s < n; s *= 2) {
    int v = 0;
    if (i >= s && i < n) v = data[i - s];
    g.sync();
    if (i < n) data[i] += v;
    g.sync();
  }
  if (i == 0) { out[0] = g.is_valid(); out[1] = g.size(); out[2] = g.num_blocks(); out[3]=g.block_rank(); }
}
extern "C" __global__ void arrive_wait(int *data, int *out) {
  cg::grid_group g = cg::this_grid();
  data[g.thread_rank()] = g.thread_rank() * 3;
  auto t = g.barrier_arrive();
  int x = threadIdx.x;
  g.barrier_wait(std::move(t));
  out[g.thread_rank()] = data[g.size() - 1 - g.thread_rank()] + x;
}
extern "C" __global__ void __cluster_dims__(2,1,1) clus(int *out) {
  __shared__ int s;
  cg::cluster_group c = cg::this_cluster();
  if (threadIdx.x == 0) s = c.block_rank() * 10 + blockIdx.x;
  c.sync();
  int *o = c.map_shared_rank(&s, c.block_rank() ^ 1);
  if (threadIdx.x == 0) out[blockIdx.x] = *o + 100 * c.num_blocks();
  c.sync();
  cg::grid_group g = cg::this_grid();
  g.sync();
  if (threadIdx.x == 0) out[gridDim.x + blockIdx.x] = out[gridDim.x - 1 - blockIdx.x];
}
extern "C" __global__ void valid(int *out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = cg::this_grid().is_valid();
}
extern "C" __global__ void by_hand(unsigned *count, int *data, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = i * 5;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  out[i] = ((volatile int *)data)[n - 1 - i];
}
