"""Triton: `NAME.json` beside `NAME.ptx` in a folder per configuration (`HASH/`), a JSON object.

1. `num_warps` includes the warps of warp specialisation. A warp has 32 threads. An object without `num_warps`
   and `shared` is not one of Triton.
2. All shared memory is dynamic.
3. A cluster has `num_ctas` blocks, in the dimensions `cluster_dims` (`clusterDims` in 2.2) if they are there.
   Version 3.3 and older ones write no directive for it.
4. `target` is an object with `backend` and `arch`, `["cuda", 90]` in 2.3, and an object with `capability` in
   2.2. In 2.1, `arch` is beside it. The number is the same for `sm_90` and `sm_90a`.

Inductor has the same files below `triton/DEVICE/`. The folders of TRITON_KERNEL_DUMP and
TRITON_KERNEL_OVERRIDE have no metadata.
"""

from __future__ import annotations

from math import prod

from ptx_lsp.containers.kernel_metadata import KernelMetadata, MetadataFormat, integer
from ptx_lsp.static_typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Final, TypeAlias

    _Json: TypeAlias = Mapping[str, object] | Sequence[object] | str | float | None

_WARP_SIZE: Final = 32
_DIMENSIONS: Final = 3
_OLDEST: Final = 10
_NO_TARGET: Final = 1000
_OPTIONS: Final = ("num_warps", "num_stages", "num_ctas", "maxnreg")


def _path(stem: str) -> str:
    return f"{stem}.json"


def _parse(data: bytes) -> tuple[KernelMetadata, ...]:
    import json  # most files have no metadata beside them

    row = _object(json.loads(data))
    warps, shared = integer(row.get("num_warps")), integer(row.get("shared"))
    if warps is None or shared is None or warps < 0 or shared < 0:
        return ()
    name, version = row.get("name"), row.get("triton_version")
    return (
        KernelMetadata(
            name if isinstance(name, str) else "",
            warps * _WARP_SIZE,
            shared,
            _cluster_size(row),
            _target(row),
            f"Triton {version}" if isinstance(version, str) and _is_version(version) else "Triton",
            tuple((key, value) for key in _OPTIONS if (value := integer(row.get(key))) is not None),
        ),
    )


def _cluster_size(row: dict[str, object]) -> int | None:
    blocks = integer(row.get("num_ctas"))
    dims = row.get("cluster_dims", row.get("clusterDims"))
    if blocks is None or blocks <= 1 or not isinstance(dims, list):
        return blocks
    sizes = [integer(size) for size in cast("list[object]", dims)]
    return prod(size or 0 for size in sizes) if len(sizes) == _DIMENSIONS else None


def _target(row: dict[str, object]) -> str | None:
    match cast("_Json", row.get("target")):
        case {"backend": "cuda", "arch": int() as arch}:
            pass
        case {"capability": int() as arch}:
            pass
        case ["cuda", int() as arch]:
            pass
        case None if row.get("device_type") == "cuda":
            arch = integer(row.get("arch"))
        case _:
            arch = None
    return f"sm_{arch}" if arch is not None and _OLDEST <= arch < _NO_TARGET else None


def _is_version(text: str) -> bool:
    return len(text) <= 40 and text.isascii() and text.isprintable()


def _object(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


METADATA = MetadataFormat(_path, _parse)
