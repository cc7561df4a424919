"""Where the text goes that threads print."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

Console: TypeAlias = Callable[[str], object]
"""Receives text in the order in which it is printed."""


def to_standard_output(text: str) -> None:
    """Writes text; `?` stands for what the encoding of the stream does not have."""
    stream = sys.stdout
    if not stream:  # the interpreter has None where it was closed
        return
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
