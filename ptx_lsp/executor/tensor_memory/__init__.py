"""Tensor Memory and the tensor cores of the 5th generation: `tcgen05`."""
