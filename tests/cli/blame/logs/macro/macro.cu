#include "inc/ops.cuh"
extern "C" __global__ void macro(unsigned* p) {
    unsigned d;
    ADD3(d, p[0], p[1], p[2]);
    p[3] = d;
}
