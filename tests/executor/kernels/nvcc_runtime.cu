// Compiled to the PTX beside it by nvcc 13.5: nvcc -ptx -arch=compute_80 -O3
#include <cstdio>
#include <cstdlib>
extern "C" {
__global__ void formats(int n, double d, const char *s, int *taken) {
  int at = 0;
  taken[at++] = printf("[%d|%5d|%-5d|%05d|%+d|% d|%i]\n", n, n, n, n, n, n, -n);
  taken[at++] = printf("[%u|%o|%#o|%x|%X|%#x|%#X|%08x]\n", -n, n, n, n, n, n, n, n);
  taken[at++] = printf("[%lld|%llu|%llx|%ld|%zu|%hd|%hhd|%hu]\n", -5LL * n, 5ULL * n, -1LL, -7L, sizeof(d), n * 70000, n * 300, n * 70000);
  taken[at++] = printf("[%f|%e|%g|%G|%a|%.0f|%10.3f|%-10.2e|%+.1f|%#.0f]\n", d, d, d, d * 1e-10, d, d, d, d, d, d);
  taken[at++] = printf("[%s|%10s|%-10s|%.2s|%c|%5c|%%]\n", s, s, s, s, 'A' + n, 'z');
  taken[at++] = printf("[%*d|%.*f|%*.*f|%-*d|%*d]\n", 8, n, 2, d, 9, 3, d, 6, n, -6, n);
  taken[at++] = printf("no arguments 100%%\n");
  taken[at++] = printf("%s and %s, %p\n", "constant", (const char *)nullptr, (void *)nullptr);
  float f = (float)d; unsigned char c = 200; short h = -3;
  taken[at++] = printf("[%f %d %d]\n", f, c, h);
  const char *odd = n ? "%y %d %l\n" : "";
  taken[at++] = printf(odd, n);
  taken[at++] = printf("%d\n", 1, 2, 3);
  taken[at++] = printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33);
  taken[at++] = printf("");
  taken[at++] = printf(nullptr);
}
__global__ void threads(int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t % 2) printf("odd %d\n", t); else printf("even %d of %d\n", t, n);
}
__global__ void reuse(int *failed, int rounds) {
  int t = threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    int size = 100 + (t * 37 + r) % 900;
    int *p = (int *)malloc(size * sizeof(int));
    if (!p) { atomicAdd(failed, 1); return; }
    p[0] = t; p[size - 1] = r;
    __syncthreads();
    if (p[0] != t || p[size - 1] != r) atomicAdd(failed + 1, 1);
    free(p);
  }
}
__global__ void misuse(int *what) {
  int *p = (int *)malloc(20);
  p[0] = 1;
  if (what[0] == 1) p[5] = 3;
  free(p);
  if (what[0] == 2) what[1] = p[0];
  if (what[0] == 3) free(p);
  if (what[0] == 4) free(what);
  free(nullptr);
}
}
