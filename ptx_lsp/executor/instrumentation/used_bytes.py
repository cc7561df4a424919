"""The bytes of a load whose values are used, as its `.pragma "used_bytes_mask N"` says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptx_lsp.executor.instrumentation.usage import EVERY_BYTE, Usage
from ptx_lsp.executor.machine.observer import MemoryEvent


def used_parts(usage: Usage, access: MemoryEvent) -> Iterator[MemoryEvent]:
    """The parts of an access whose bytes are used: those that follow each other are one part."""
    if usage.used_bytes == EVERY_BYTE or access.use != "read":
        yield access
        return
    start = 0
    while start < access.size:
        end = start
        while end < access.size and usage.used_bytes >> end & 1:
            end += 1
        if end > start:
            yield replace(access, size=end - start, offsets=access.offsets + start)
        start = end + 1
