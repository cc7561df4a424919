"""The state of a running kernel: memory, registers, the lanes of a wave, steps and blocks."""
