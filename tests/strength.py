"""How much random tests try: a little in each run, and more with `PTX_LSP_LONG` set (`make test-long`)."""

from __future__ import annotations

import os

LONG = bool(os.environ.get("PTX_LSP_LONG"))


def seeds(few: int, many: int) -> range:
    """Seeds of random numbers: the same few in each run of the suite, more in long runs."""
    return range(many if LONG else few)


def number(few: int, many: int) -> int:
    """How many examples a test tries: the same few in each run of the suite, more in long runs."""
    return many if LONG else few
