extern "C" __global__ void shared_big(float* p) { //!
    __shared__ float tile[20000];
    tile[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = tile[threadIdx.x ^ 1];
}
