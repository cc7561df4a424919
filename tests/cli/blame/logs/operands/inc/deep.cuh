#pragma once
template <typename T> __device__ __forceinline__ T deep_shuffle(T x) {
    T y;
    asm volatile("shfl.sync.bfly.b32 %0, %1, 16, 31;" : "=r"((unsigned&)y) : "r"((unsigned&)x)); //!
    return y;
}
