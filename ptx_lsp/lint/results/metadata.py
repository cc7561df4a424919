"""The figures that the metadata beside a file add to the row of a kernel (`containers/kernel_metadata.py`).

1. Directives of the kernel win, then options, then the metadata. `.maxntid` is only an upper bound, so the
   metadata give the exact size; a larger one cannot be launched, and is left out.
2. Where directives contradict the metadata, the file was edited or is another one: a note says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from ptx_lsp.containers.kernel_metadata import KernelMetadata
from ptx_lsp.lint.results.report import Compilation, Kernel
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import module_of


def metadata_of(function: Function, found: Mapping[str, KernelMetadata]) -> KernelMetadata | None:
    """The metadata of one kernel. Those without a name belong to the only kernel."""
    known = found.get(function.name)
    if known is None and (unnamed := found.get("")) is not None and _is_alone(function):
        return unnamed
    return known


def with_metadata(row: Kernel, known: KernelMetadata | None) -> Kernel:
    """The row with what the metadata add to the directives. Its occupancy is that of before."""
    if known is None:
        return row
    row = row._replace(compilation=Compilation(known.compiler, known.options))
    most = row.threads_per_block if row.threads_source == "maxntid" else None
    if known.threads is not None and (
        row.threads_source == "best" or (most is not None and known.threads <= most)
    ):
        row = row._replace(threads_per_block=known.threads, threads_source="metadata")
    if known.cluster_size is not None and row.cluster_source is None:
        row = row._replace(cluster_size=known.cluster_size, cluster_source="metadata")
    return row


def contradictions(row: Kernel, known: KernelMetadata | None, own_target: str | None) -> Iterator[str]:
    """One line for each figure that the directives contradict. `own_target` is that of the file."""
    if known is None:
        return
    threads, cluster = row.threads_per_block, row.cluster_size
    pairs: list[tuple[str, str | int | None, str | int | None]] = [
        ("target", known.target, own_target.rstrip("af") if own_target is not None else None),
        ("block size", known.threads, threads if row.threads_source == "reqntid" else None),
        ("cluster size", known.cluster_size, cluster if row.cluster_source == "reqnctapercluster" else None),
    ]
    if row.threads_source == "maxntid" and threads is not None and (known.threads or 0) > threads:
        pairs.append(("block size", known.threads, f"at most {threads}"))
    for what, said, own in pairs:
        if said is not None and own is not None and said != own:
            yield (
                f"kernel `{row.name}`: its {what} is {own}, but the metadata of {known.compiler} beside the "
                f"file say {said}; the directives are used"
            )


def _is_alone(function: Function) -> bool:
    every = module_of(function).functions
    defined = (one for one in every if one.is_kernel and one.symbol.is_definition)
    return len(list(islice(defined, 2))) == 1
