__device__ void mma(float (&d)[4], unsigned long long a, unsigned long long b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;\n" //!
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
extern "C" __global__ void gemm(float* out, unsigned long long a, unsigned long long b) {
  float d[4] = {0,0,0,0};
  asm volatile("wgmma.fence.sync.aligned;");
  mma(d, a, b);
  d[0] += out[0]; //!
  mma(d, a, b);
  asm volatile("wgmma.commit_group.sync.aligned;");
  asm volatile("wgmma.wait_group.sync.aligned 0;");
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;"); //!
  for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
