"""Tests of the CUDA driver that runs kernels on the executor."""
