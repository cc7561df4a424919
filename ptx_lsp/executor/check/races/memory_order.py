"""The memory-order semantics of an instruction's modifiers (PTX ISA, "Memory Consistency Model")."""

from __future__ import annotations

from ptx_lsp.executor.instrumentation.usage import Usage

_STRONG = frozenset((".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio"))


def is_strong(usage: Usage) -> bool:
    return bool(_STRONG & usage.modifiers) or is_mbarrier(usage)


def is_fence(usage: Usage) -> bool:
    """Whether it is a fence: it acquires, releases, or both, for all memory operations of a thread."""
    if usage.opcode not in ("membar", "fence"):
        return False
    return not {".proxy", ".mbarrier_init"} & usage.modifiers


def is_near(usage: Usage) -> bool:
    """Whether its scope is only the block, so that it orders nothing for threads of other blocks."""
    return ".cta" in usage.modifiers


def is_proxy_fence(usage: Usage) -> bool:
    """Whether it is a fence between threads and asynchronous copies."""
    if usage.opcode not in ("membar", "fence"):
        return False
    return ".proxy" in usage.modifiers and any(one.startswith(".async") for one in usage.modifiers)


def is_mbarrier(usage: Usage) -> bool:
    return usage.opcode == "mbarrier" or ".mbarrier" in usage.modifiers


def is_bulk(usage: Usage) -> bool:
    """Whether it is a transfer that mbarriers or groups complete, begun by any thread."""
    if usage.opcode == "st" and ".async" not in usage.modifiers:
        return False
    return bool({".bulk", ".async"} & usage.modifiers) and not (
        usage.opcode == "cp" and ".bulk" not in usage.modifiers
    )


def acquires(usage: Usage) -> bool:
    """Whether a strong read is an acquire by itself."""
    if is_mbarrier(usage):
        return ".relaxed" not in usage.modifiers and bool({".test_wait", ".try_wait"} & usage.modifiers)
    return bool({".acquire", ".acq_rel"} & usage.modifiers)


def releases(usage: Usage) -> bool:
    """Whether a strong write is a release by itself."""
    if is_mbarrier(usage):
        return ".relaxed" not in usage.modifiers
    return bool({".release", ".acq_rel"} & usage.modifiers)
