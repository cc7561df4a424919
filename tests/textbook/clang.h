// What `kernels.cu` uses of CUDA, for clang without NVIDIA's headers.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define REGISTER(name, value) __declspec(property(get = get_##name)) unsigned name; \
    static __device__ __forceinline__ unsigned get_##name() { return value; }

struct threads { REGISTER(x, __nvvm_read_ptx_sreg_tid_x()) REGISTER(y, __nvvm_read_ptx_sreg_tid_y()) };
struct blocks { REGISTER(x, __nvvm_read_ptx_sreg_ctaid_x()) REGISTER(y, __nvvm_read_ptx_sreg_ctaid_y()) };
struct sizes { REGISTER(x, __nvvm_read_ptx_sreg_ntid_x()) REGISTER(y, __nvvm_read_ptx_sreg_ntid_y()) };
struct counts { REGISTER(x, __nvvm_read_ptx_sreg_nctaid_x()) };
extern const __device__ threads threadIdx;
extern const __device__ blocks blockIdx;
extern const __device__ sizes blockDim;
extern const __device__ counts gridDim;

static __device__ __forceinline__ int min(int a, int b) { return a < b ? a : b; }
static __device__ __forceinline__ int max(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ int __popc(unsigned a) { return __builtin_popcount(a); }
static __device__ __forceinline__ int __syncthreads_or(int a) { return __nvvm_bar0_or(a); }
static __device__ __forceinline__ int atomicAdd(int *p, int a) { return __nvvm_atom_add_gen_i(p, a); }
static __device__ __forceinline__ float atomicAdd(float *p, float a) { return __nvvm_atom_add_gen_f(p, a); }
static __device__ __forceinline__ unsigned __ballot_sync(unsigned mask, int a)
{
    return __nvvm_vote_ballot_sync(mask, a);
}
static __device__ __forceinline__ int __shfl_sync(unsigned mask, int a, int lane)
{
    return __nvvm_shfl_sync_idx_i32(mask, a, lane, 31);
}
static __device__ __forceinline__ int __shfl_up_sync(unsigned mask, int a, int d)
{
    return __nvvm_shfl_sync_up_i32(mask, a, d, 0);
}
static __device__ __forceinline__ int __shfl_down_sync(unsigned mask, int a, int d)
{
    return __nvvm_shfl_sync_down_i32(mask, a, d, 31);
}
