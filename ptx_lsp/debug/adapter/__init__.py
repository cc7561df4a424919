"""`ptx-dap`: the debugger as a server of the debug adapter protocol."""
