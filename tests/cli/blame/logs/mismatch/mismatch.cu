#include "inc/ops.cuh"
extern "C" __global__ void types(unsigned long long* out, unsigned* in, float* f) {
    unsigned a = in[0], d; unsigned long long l = out[0];
    asm volatile("add.u32 %0, %1, %2;" : "=r"(d) : "r"(a), "l"(l)); //!
    out[1] = d;
    asm volatile("mov.b32 %0, undeclared_name;" : "=r"(d)); //!
    out[2] = d;
    asm volatile("ld.global.u32 %0, %1;" : "=r"(d) : "l"(in)); //!
    out[3] = d;
    asm volatile("cvt.u32.f32 %0, %1;" : "=r"(d) : "f"(f[0])); //!
    out[4] = d;
    asm volatile("setp.s32 p, %0, %0;" :: "r"(a)); //!
    asm volatile("@%0 mov.u32 %1, 1;" : : "r"(a), "r"(d)); //!
    asm volatile("{\n\t"
        ".reg .pred p;\n\t"
        "setp.ne.u32 p, %1, 0;\n\t"
        "@p st.global.u32 [%2], q;\n\t" //!
        "selp.u32 %0, 1, 0, p;\n\t"
        "}" : "=r"(d) : "r"(a), "l"(in));
    out[5] = d;
    asm volatile("tcgen05.fence::before_thread_sync;"); //!
    asm volatile("foo.bar.u32 %0, %0;" :: "r"(a)); //!
    asm volatile("ld.global.v4.u32 {%0, %1}, [%2];" : "=r"(d), "=r"(a) : "l"(in)); //!
    out[6] = d + a;
    asm volatile("wgmma.fence.sync.aligned;"); //!
}
