"""Single instructions: the registers that each reads and writes, constants, side effects."""
