"""What a launch asks for, held against the kernel and what hardware has at most."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

import numpy as np

from ptx_lsp.executor.errors import ExecutionError
from ptx_lsp.executor.image import Image
from ptx_lsp.executor.literals import constant
from ptx_lsp.executor.wave import Dimensions, Shape
from ptx_lsp.model.function import Function

_MOST_THREADS = 1024
_MOST_CLUSTER_BLOCKS = 16
_LARGEST_GRID = (1 << 31) - 1, 65535, 65535
_LARGEST_BLOCK = 1024, 1024, 64
_MOST_BLOCKS = 1 << 32
_MOST_SHARED_BYTES = 328 << 10  # of a block, on any device
_MOST_LOCAL_BYTES = 512 << 10  # of a thread


def shape_of(
    kernel: Function, image: Image, grid: int | Sequence[int], block: int | Sequence[int],
    cluster: int | Sequence[int] | None, dynamic_bytes: int,
) -> Shape:
    """The shape of a launch; ExecutionError where there can be none like that."""
    blocks, explicit = _cluster(kernel, cluster)
    shape = Shape(
        _dimensions(grid, "grid"), _dimensions(block, "block"), image.shared_bytes, dynamic_bytes,
        image.local_bytes, blocks, explicit,
    )
    message = ""
    if shape.threads > _MOST_THREADS:
        message = f"a block has at most {_MOST_THREADS} threads, not {shape.threads}"
    elif _exceeds(shape.block, _LARGEST_BLOCK):
        message = f"the block is at most {_LARGEST_BLOCK}, not {shape.block}"
    elif _exceeds(shape.grid, _LARGEST_GRID):
        message = f"the grid is at most {_LARGEST_GRID}, not {shape.grid}"
    elif shape.blocks >= _MOST_BLOCKS:
        message = f"a grid of {shape.blocks} blocks is larger than can be run here"
    elif shape.cluster_blocks > _MOST_CLUSTER_BLOCKS:
        message = f"a cluster has at most {_MOST_CLUSTER_BLOCKS} blocks, not {shape.cluster_blocks}"
    elif shape.shared_bytes > _MOST_SHARED_BYTES:
        message = f"{shape.shared_bytes} bytes of shared memory are more than any device has for a block"
    elif shape.local_bytes > _MOST_LOCAL_BYTES:
        message = f"{shape.local_bytes} bytes of local memory are more than a thread can have"
    elif any(size % each for size, each in zip(shape.grid, shape.cluster, strict=True)):
        message = f"a grid of {shape.grid} cannot be divided into clusters of {shape.cluster}"
    if message:
        raise ExecutionError(message, "launch")
    return shape


def _exceeds(sizes: Dimensions, most: Dimensions) -> bool:
    return any(size > limit for size, limit in zip(sizes, most, strict=True))


def _cluster(
    kernel: Function, given: int | Sequence[int] | None
) -> tuple[Dimensions, bool]:
    """The blocks of a cluster, and whether the launch or the kernel asks for clusters."""
    required: Dimensions | None = None
    for directive in kernel.node.directives:
        if directive.name.text == ".reqnctapercluster":
            sizes = [constant(value) for value in directive.arguments]
            required = _dimensions([one if isinstance(one, int) else 0 for one in sizes], "cluster")
    if given is None:
        return required or (1, 1, 1), required is not None
    cluster = _dimensions(given, "cluster")
    if required is not None and cluster != required:
        raise ExecutionError(f"`{kernel.name}` wants clusters of {required}, not {cluster}", "launch")
    return cluster, True


def _dimensions(size: int | Sequence[int], what: str) -> Dimensions:
    given: Sequence[SupportsIndex] = (size,) if isinstance(size, int | np.integer) else size
    try:
        sizes = tuple(operator.index(one) for one in given)
    except TypeError:
        sizes = ()
    if not 1 <= len(sizes) <= 3 or any(one < 1 for one in sizes):
        raise ExecutionError(f"the {what} has one to three sizes of at least 1, not {size}", "launch")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
