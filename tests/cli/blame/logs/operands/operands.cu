#include "inc/ops.cuh"
extern "C" __global__ void arrive(unsigned* p) {
    barrier_arrive<2>(p[0]);
}
