"""XLA: `--xla_dump_to` writes `module_0001.jit_f.thunk_sequence.txt` beside `module_0001.jit_f.ptx`, or
beside `module_0001.jit_f.0.ptx` and so on if the module was compiled in parts.

1. A line per launch has `kernel = NAME, launch dimensions = blocks: {1, 1, 1}, threads/block: {128, 1, 1}`,
   then possibly `, cluster_dim = ClusterDim{2, 1, 1}` or `, cluster_dim = nullopt`.
2. A kernel that is launched in several ways has only the figures in which they agree.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from ptx_lsp.containers.kernel_metadata import KernelMetadata, MetadataFormat
from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final

_LAUNCH: Final = lazy_pattern(
    rb"(?m)kernel = ([^\s,]{1,4096}), launch dimensions = blocks: \{[\d, ]*\}, "
    rb"threads/block: \{(\d{1,9}), (\d{1,9}), (\d{1,9})\}"
    rb"[^\n]{0,64}?(?:, cluster_dim = (?:nullopt|ClusterDim\{(\d{1,9}), (\d{1,9}), (\d{1,9})\}))?$"
)
_MODULE: Final = lazy_pattern(r"module_\d+\.")


def _path(stem: str) -> str:
    name, _, part = stem.rpartition(".")
    is_part = part.isdecimal() and _MODULE.search(name) is not None
    return f"{name if is_part else stem}.thunk_sequence.txt"


def _parse(data: bytes) -> tuple[KernelMetadata, ...]:
    found: dict[bytes, KernelMetadata] = {}
    for launch in _LAUNCH.finditer(data):
        name, *sizes = launch.groups()
        cluster = _product(sizes[3:]) if sizes[3] is not None else None
        one = KernelMetadata(
            name.decode("utf-8", "replace"),
            _product(sizes[:3]),
            cluster_size=cluster,
            compiler="XLA",
        )
        found[name] = _agreed(found[name], one) if name in found else one
    return tuple(found.values())


def _agreed(one: KernelMetadata, other: KernelMetadata) -> KernelMetadata:
    return one._replace(
        threads=one.threads if one.threads == other.threads else None,
        cluster_size=one.cluster_size if one.cluster_size == other.cluster_size else None,
    )


def _product(sizes: Iterable[bytes]) -> int:
    return prod(map(int, sizes))


METADATA = MetadataFormat(_path, _parse)
