/* Asks NVIDIA's calculator. One question a line: the device, then the block; see _line in occupancy.py.
   A line that begins with "best" asks for the best block size. One line of numbers comes back. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_occupancy.h"

static unsigned long at_most(unsigned long number) { return number > 65535 ? 65535 : number; }

int main(void) {
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        int best = strncmp(line, "best ", 5) == 0;
        long n[13];
        char *rest = line + (best ? 5 : 0);
        for (int i = 0; i < 13; i++) n[i] = strtol(rest, &rest, 10);

        cudaOccDeviceProp device = {0};
        device.computeMajor = (int)n[0];
        device.computeMinor = (int)n[1];
        device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = (int)n[2];
        device.regsPerBlock = (int)n[3];
        device.regsPerMultiprocessor = 65536;
        device.warpSize = 32;
        device.sharedMemPerBlock = 49152;
        device.sharedMemPerMultiprocessor = (size_t)n[4];
        device.numSms = 1;
        device.sharedMemPerBlockOptin = (size_t)n[5];
        device.reservedSharedMemPerBlock = (size_t)n[6];

        cudaOccFuncAttributes kernel = {0};
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = (int)n[8];
        kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
        kernel.shmemLimitConfig = n[12] ? FUNC_SHMEM_LIMIT_OPTIN : FUNC_SHMEM_LIMIT_DEFAULT;
        kernel.maxDynamicSharedSizeBytes = (size_t)n[9];
        kernel.numBlockBarriers = (int)n[10];

        cudaOccDeviceState state = {0};
        state.cacheConfig = CACHE_PREFER_NONE;
        state.carveoutConfig = n[11] == 100 ? SHAREDMEM_CARVEOUT_DEFAULT : (int)n[11];

        if (best) {
            int grid = 0, threads = 0;
            if (cudaOccMaxPotentialOccupancyBlockSize(&grid, &threads, &device, &kernel, &state, 0,
                                                      (size_t)n[9]))
                return 1;
            printf("%d %d\n", threads, grid);
            continue;
        }
        cudaOccResult r;
        memset(&r, 0, sizeof r);
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &device, &kernel, &state, (int)n[7],
                                                    (size_t)n[9]))
            return 1;
        printf("%d %u %lu %lu %d %lu %d %zu\n", r.activeBlocksPerMultiprocessor, r.limitingFactors,
               at_most((unsigned long)r.blockLimitRegs), at_most((unsigned long)r.blockLimitSharedMem),
               r.blockLimitWarps, at_most((unsigned long)r.blockLimitBarriers),
               r.allocatedRegistersPerBlock / 256, r.allocatedSharedMemPerBlock / 128);
    }
    return 0;
}
