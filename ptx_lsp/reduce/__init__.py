"""Reduces a PTX text to the smallest one for which a condition still holds (docs/ptx-reduce.md).

A pass (`passes/`) proposes steps, and `reducer.py` tries chunks of them. `examination.py` decides whether a
candidate is still interesting; `examiner.py` examines several at the same time.
"""
