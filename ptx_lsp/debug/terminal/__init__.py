"""The debugger at a terminal, and with commands from a pipe."""
