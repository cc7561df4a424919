extern "C" __global__ void raw(unsigned* p) {
    unsigned d, a = p[0];
    asm volatile(R"(
        {
            .reg .u32 t;
            add.u32 t, %1, 1;
            // a comment
            popc.b64 %0, t; //!
            prmt.b32 %0, %0, t, 0x3210, 5; //!
        }
    )" : "=r"(d) : "r"(a));
    p[1] = d;
}
__device__ __noinline__ unsigned twice(unsigned x) {
    unsigned y;
    asm("lop3.b32 %0, %1, %1, 0x80;" : "=r"(y) : "r"(x)); //!
    return y;
}
extern "C" __global__ void caller(unsigned* p) { p[0] = twice(p[1]); }
