#pragma once
#include "deep.cuh"
#define ADD3(d, a, b, c) asm("add.s33 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)) //!
template <typename T> struct Reducer {
    __device__ __forceinline__ static T run(T x) {
        T y = deep_shuffle(x);
        return x + y;
    }
};
template <int Stage> __device__ __forceinline__ void barrier_arrive(unsigned address) {
    asm volatile(
        "{\n"
        ".reg .b64 state;\n"
        "mbarrier.arrive.shared::cta.b64 state [%0];\n" //!
        "}\n" ::"r"(address + Stage * 8) : "memory");
}
