"""The special registers of PTX: which names exist."""

from __future__ import annotations

_NAMES = frozenset(
    """
    %tid %ntid %laneid %warpid %nwarpid %ctaid %nctaid %smid %nsmid %gridid %is_explicit_cluster
    %clusterid %nclusterid %cluster_ctaid %cluster_nctaid %cluster_ctarank %cluster_nctarank
    %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt %clock %clock_hi %clock64
    %globaltimer %globaltimer_lo %globaltimer_hi %reserved_smem_offset_begin
    %reserved_smem_offset_end %reserved_smem_offset_cap %total_smem_size %aggr_smem_size
    %dynamic_smem_size %current_graph_exec
    """.split()
)
_RANGES = {"%pm": 8, "%envreg": 32, "%reserved_smem_offset_": 2}


def find(name: str) -> str | None:
    """The special register that `name` is; None where PTX has none of that name."""
    if not name.startswith("%"):
        return None
    if name in _NAMES:
        return name
    stem = name.removesuffix("_64") if name.startswith("%pm") else name
    base = stem.rstrip("0123456789")
    number = stem[len(base) :]
    return name if number and base in _RANGES and int(number) < _RANGES[base] else None
