"""The words of the debugger, at a terminal and in the debug console of editors: those of gdb and cuda-gdb."""
