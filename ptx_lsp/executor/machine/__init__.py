"""What a running kernel consists of: memory, registers, the lanes of a wave, steps and blocks."""
