// Compiled to the PTX beside it by nvcc 13.5: nvcc -ptx -arch=compute_90 -O3
extern "C" {
__global__ void cluster_histogram(int *bins, int count, const int *input, int n) {
  extern __shared__ int own[];
  int rank = __clusterRelativeBlockRank(), size = __clusterSizeInBlocks(), each = count / size;
  for (int i = threadIdx.x; i < each; i += blockDim.x) own[i] = 0;
  __cluster_barrier_arrive(); __cluster_barrier_wait();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int bin = input[i] % count;
    int *there = (int *)__cluster_map_shared_rank(own, bin / each);
    atomicAdd(there + bin % each, 1);
  }
  __cluster_barrier_arrive(); __cluster_barrier_wait();
  for (int i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(&bins[rank * each + i], own[i]);
}
__global__ void layer_norm(float *out, const float *in, const float *scale, const float *shift, int n) {
  __shared__ float part[32][2];
  const float *row = in + blockIdx.x * n;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) { float v = row[i]; sum += v; squares += v * v; }
  for (int o = 16; o; o >>= 1) { sum += __shfl_down_sync(~0u, sum, o); squares += __shfl_down_sync(~0u, squares, o); }
  if (threadIdx.x % 32 == 0) { part[threadIdx.x / 32][0] = sum; part[threadIdx.x / 32][1] = squares; }
  __syncthreads();
  if (threadIdx.x < 32) {
    int warps = blockDim.x / 32;
    sum = threadIdx.x < warps ? part[threadIdx.x][0] : 0; squares = threadIdx.x < warps ? part[threadIdx.x][1] : 0;
    for (int o = 16; o; o >>= 1) { sum += __shfl_xor_sync(~0u, sum, o); squares += __shfl_xor_sync(~0u, squares, o); }
    if (threadIdx.x == 0) { part[0][0] = sum / n; part[0][1] = rsqrtf(squares / n - (sum / n) * (sum / n) + 1e-5f); }
  }
  __syncthreads();
  float mean = part[0][0], inverse = part[0][1];
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = (row[i] - mean) * inverse * scale[i] + shift[i];
}
__global__ void n_body(float4 *position, float3 *velocity, float dt, int n) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = position[i];
  float3 a = {0, 0, 0};
  for (int t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = position[t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x; k++) {
      float4 o = tile[k];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float r = dx * dx + dy * dy + dz * dz + 0.01f;
      float f = o.w / (r * sqrtf(r));
      a.x += dx * f; a.y += dy * f; a.z += dz * f;
    }
    __syncthreads();
  }
  float3 v = velocity[i];
  v.x += a.x * dt; v.y += a.y * dt; v.z += a.z * dt;
  velocity[i] = v;
}
__global__ void stencil(const float *in, float *out, int width, int height) {
  __shared__ float tile[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int dy = threadIdx.y; dy < 18; dy += 16)
    for (int dx = threadIdx.x; dx < 18; dx += 16) {
      int gx = min(max((int)(blockIdx.x * 16) + dx - 1, 0), width - 1), gy = min(max((int)(blockIdx.y * 16) + dy - 1, 0), height - 1);
      tile[dy][dx] = in[gy * width + gx];
    }
  __syncthreads();
  if (x < width && y < height) {
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    out[y * width + x] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] + tile[ty][tx + 1]);
  }
}
__global__ void producer_consumer(int *out, const int *in, int rounds) {
  __shared__ int box[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int r = 0; r < rounds; r++) {
      if (r >= 2) asm volatile("bar.sync %0, 64;" :: "r"(3 + r % 2) : "memory");
      box[r % 2][lane] = in[r * 32 + lane] * 3;
      asm volatile("bar.arrive %0, 64;" :: "r"(1 + r % 2) : "memory");
    }
  } else {
    for (int r = 0; r < rounds; r++) {
      asm volatile("bar.sync %0, 64;" :: "r"(1 + r % 2) : "memory");
      out[r * 32 + lane] = box[r % 2][31 - lane];
      if (r + 2 < rounds) asm volatile("bar.arrive %0, 64;" :: "r"(3 + r % 2) : "memory");
    }
  }
}
__global__ void votes(int *out, int limit) {
  int i = threadIdx.x;
  out[i] = __syncthreads_count(i < limit) * 100 + __syncthreads_and(i < limit) * 10 + __syncthreads_or(i >= limit);
}
__global__ void lock_in_warp(int *lock, int *total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) { *(volatile int *)total += 1; __threadfence(); atomicExch(lock, 0); done = true; }
  }
}
__global__ void halves(int *out) {
  __shared__ int box[32];
  int lane = threadIdx.x;
  if (lane < 16) { box[lane] = lane * 2; __syncwarp(); out[lane] = box[lane + 16]; }
  else { box[lane] = lane * 5; __syncwarp(); out[lane] = box[lane - 16]; }
}
__global__ void last_block(int *sums, int *count, const int *in, int *result) {
  __shared__ bool last;
  int s = __reduce_add_sync(~0u, in[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) { sums[blockIdx.x] = s; __threadfence(); last = atomicAdd(count, 1) == gridDim.x - 1; }
  __syncthreads();
  if (last) {
    int t = 0; for (int i = threadIdx.x; i < gridDim.x; i += 32) t += ((volatile int *)sums)[i];
    t = __reduce_add_sync(~0u, t);
    if (threadIdx.x == 0) *result = t;
  }
}
__global__ void few(int *out, const int *in, int rounds, int *steps) {
  __shared__ int box[64];
  int i = blockIdx.x * 64 + threadIdx.x, own[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  box[threadIdx.x] = in[i];
  __syncthreads();
  int total = 0;
  if (threadIdx.x % 16 == 3) {
    for (int r = 0; r < rounds + threadIdx.x + (int)blockIdx.x % 5; r++) {
      own[(r * 3 + total) & 7] += box[(threadIdx.x + r) & 63] + in[(i + r) % (gridDim.x * 64)];
      if (total & 1) total += own[r & 7]; else total -= own[(r + 1) & 7];
      atomicAdd(steps, 1);
    }
  }
  out[i] = total;
}
}
