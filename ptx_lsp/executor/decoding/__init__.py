"""Makes the instructions of a kernel, and of what it calls, into blocks of steps."""
