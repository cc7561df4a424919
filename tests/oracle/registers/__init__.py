"""Real kernels and what ptxas makes of them: the data set that register estimates are judged by.

`python -m tests.oracle.registers --help` says how it is drawn and measured.
"""
