"""Hot kernels as native code: the same steps, compiled by LLVM (extra `native`)."""
