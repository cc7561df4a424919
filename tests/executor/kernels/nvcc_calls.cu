// Compiled to the PTX beside it by nvcc 13.5: nvcc -ptx -arch=compute_90 -O3
#include <assert.h>
#include <stdio.h>
extern "C" {
__device__ __noinline__ unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void fibonacci(unsigned *out) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = fib(i % 13); }

__device__ __noinline__ void quick(int *a, int low, int high) {
  while (low < high) {
    int pivot = a[(low + high) / 2], i = low, j = high;
    while (i <= j) {
      while (a[i] < pivot) i++;
      while (a[j] > pivot) j--;
      if (i <= j) { int t = a[i]; a[i] = a[j]; a[j] = t; i++; j--; }
    }
    if (j - low < high - i) { quick(a, low, j); low = i; } else { quick(a, i, high); high = j; }
  }
}
__global__ void quick_sort(int *keys, int each) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  quick(keys + i * each, 0, each - 1);
}
struct Three { int a, b; float c; };
__device__ __noinline__ Three twice(Three x) { x.a *= 2; x.b += x.a; x.c = x.c * 0.5f; return x; }
__device__ __noinline__ int is_odd(int n);
__device__ __noinline__ int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
__device__ __noinline__ int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
__global__ void parity(int *out) { int i = threadIdx.x; Three t = twice(Three{i, i + 1, (float)i}); out[i] = is_even(i) * 1000 + t.b + (int)t.c; }

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus_(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ int (*table[3])(int, int) = { plus, minus_, times };
__global__ void by_table(int *out, int n) { int i = threadIdx.x; out[i] = table[i % n](i, 7); }

__global__ void jump_table(int *out, int n) {
  int i = threadIdx.x; int v = i;
  switch (i % n) {
    case 0: v = v * v + 3; break;
    case 1: v = __popc(v); break;
    case 2: v = v ^ 0x55; break;
    case 3: v = -v; break;
    case 4: out[i + 100] = 1; v += 9; break;
    case 5: v = v << 3; break;
    case 6: v = v / 3; break;
    case 7: v = __clz(v); break;
    case 8: v = v % 5; 
    case 9: v += 100; break;
    default: v = 7;
  }
  out[i] = v;
}
__global__ void on_stack(int *out, const int *sizes) {
  int i = threadIdx.x; int n = sizes[i];
  int *p = (int *)alloca(n * sizeof(int));
  for (int k = 0; k < n; k++) p[k] = k * i;
  int s = 0; for (int k = n - 1; k >= 0; k--) s += p[k];
  out[i] = s;
}

__global__ void checked(int *out, int n) { int i = threadIdx.x; assert(i < n); out[i] = i; }
__global__ void formats(long long big) {
  printf("%5d|%-4s|%08.3f|%c|%lld|%x|%%|%*d|%u|%e\n", -42, "ab", 3.14159, 'z', big, 255, 6, 7, -1, 12345.0);
}
__global__ void exhausted(int *out, int each) { out[threadIdx.x] = malloc(each) != 0; }
}
