"""The debugger: runs a kernel on the executor, stops it, looks at it, and goes back in time."""
