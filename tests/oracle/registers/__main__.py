"""The command line: `python -m tests.oracle.registers`."""

from tests.oracle.registers.command import main

if __name__ == "__main__":
    raise SystemExit(main())
