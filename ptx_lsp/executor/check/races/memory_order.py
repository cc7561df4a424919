"""The memory-order semantics of an instruction's modifiers (PTX ISA, "Memory Consistency Model")."""

from __future__ import annotations

from typing import Literal, TypeAlias

from ptx_lsp.executor.instrumentation.usage import Usage

Scope: TypeAlias = int
"""The threads for which an operation holds: of the block, of the cluster, all. A launch has one GPU, so
scopes `.gpu` and `.sys` are the same.
"""
CTA: Scope = 0
CLUSTER: Scope = 1
GPU: Scope = 2
Proxy = Literal[".shared", ".global", "tensormap"]
"""The target of a proxy fence: the async proxy, in one of these state spaces, or the tensor map proxy."""

_STRONG = frozenset((".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio"))


def is_strong(usage: Usage) -> bool:
    if is_mbarrier(usage):
        return not {".init", ".inval"} & usage.modifiers
    return bool(_STRONG & usage.modifiers)


def is_atomic(usage: Usage) -> bool:
    """Whether what it updates, it updates atomically."""
    return usage.opcode != "tensormap"


def is_fence(usage: Usage) -> bool:
    """Whether it is a fence: it acquires, releases, or both, for all memory operations of a thread.
    `fence.mbarrier_init` counts as one, although it orders `mbarrier.init` alone.
    """
    return usage.opcode in ("membar", "fence") and ".proxy" not in usage.modifiers


def is_sequential(usage: Usage) -> bool:
    """Whether it is a `fence.sc`, for which `membar` is another name."""
    return is_fence(usage) and (usage.opcode == "membar" or ".sc" in usage.modifiers)


def scope(usage: Usage) -> Scope:
    """The scope of a fence or a strong access. That of an mbarrier without one is not narrow."""
    if ".cta" in usage.modifiers:
        return CTA
    return CLUSTER if ".cluster" in usage.modifiers else GPU


def proxies(usage: Usage) -> tuple[Proxy, ...]:
    """The proxies that it orders with the generic one; () unless it is a fence of proxies."""
    if usage.opcode not in ("membar", "fence") or ".proxy" not in usage.modifiers:
        return ()
    if any(one.startswith(".tensormap") for one in usage.modifiers):
        return ("tensormap",) if ".release" not in usage.modifiers else ()
    if not any(one.startswith(".async") for one in usage.modifiers):
        return ()
    if ".global" in usage.modifiers:
        return (".global",)
    is_shared = any(one.startswith(".shared") for one in usage.modifiers)
    return (".shared",) if is_shared else (".shared", ".global")


def is_mbarrier(usage: Usage) -> bool:
    return usage.opcode == "mbarrier" or ".mbarrier" in usage.modifiers


def is_bulk(usage: Usage) -> bool:
    """Whether it is a transfer that mbarriers or groups complete, begun by any thread."""
    if usage.opcode == "st" and ".async" not in usage.modifiers:
        return False
    return bool({".bulk", ".async"} & usage.modifiers) and not (
        usage.opcode in ("fence", "membar") or (usage.opcode == "cp" and ".bulk" not in usage.modifiers)
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
