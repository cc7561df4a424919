"""The command `ptx-reduce`."""
