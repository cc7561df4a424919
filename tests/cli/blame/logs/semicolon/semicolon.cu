extern "C" __global__ void semi(unsigned* p) {
    unsigned d, a = p[0];
    asm volatile("add.u32 %0, %1, 1\n\t" //!
                 "add.u32 %0, %0, 2;" : "=r"(d) : "r"(a));
    p[1] = d;
}
