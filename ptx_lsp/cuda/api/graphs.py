"""Graphs of kernels and copies, which run in the order in which they were added."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field

from ptx_lsp.cuda.api.copies import Copy3D, copy_box
from ptx_lsp.cuda.api.launching import cluster_of, parameter_bytes
from ptx_lsp.cuda.driver import Driver
from ptx_lsp.cuda.driver_function import Pointer, Size, driver_function
from ptx_lsp.cuda.host_memory import write_word
from ptx_lsp.cuda.launches import LaunchShape
from ptx_lsp.cuda.modules import Kernel

Work = Callable[[], None]


@dataclass
class Graph:
    """The work of each node, by its handle."""

    nodes: dict[int, Work] = field(default_factory=dict[int, Work])


class _KernelNode(ctypes.Structure):
    """`CUDA_KERNEL_NODE_PARAMS`."""

    _fields_ = (
        ("kernel", ctypes.c_uint64), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint), ("parameters", ctypes.c_uint64), ("extra", ctypes.c_uint64),
    )


@driver_function("cuGraphCreate")
def create(driver: Driver, result: Pointer) -> None:
    write_word(result, driver.add(Graph()))


@driver_function("cuGraphDestroy", "cuGraphExecDestroy", is_deferred=True)
def destroy(driver: Driver, graph: Size) -> None:
    driver.remove(graph, Graph)


@driver_function("cuGraphAddKernelNode", "cuGraphAddKernelNode_v2")
def add_kernel(
    driver: Driver, result: Pointer, graph: Size, before: Pointer, count: Size, description: Pointer
) -> None:
    del before, count
    _add(driver, result, graph, _kernel(driver, description))


@driver_function("cuGraphAddMemcpyNode")
def add_copy(
    driver: Driver, result: Pointer, graph: Size, before: Pointer, count: Size, description: Pointer
) -> None:
    del before, count
    _add(driver, result, graph, _copy(driver, description))


@driver_function("cuGraphAddEmptyNode")
def add_nothing(driver: Driver, result: Pointer, graph: Size) -> None:
    _add(driver, result, graph, lambda: None)


@driver_function("cuGraphInstantiate_v2", "cuGraphInstantiateWithFlags")
def instantiate(driver: Driver, result: Pointer, graph: Size) -> None:
    write_word(result, driver.add(Graph(dict(driver.get(graph, Graph).nodes))))


@driver_function("cuGraphExecKernelNodeSetParams", "cuGraphExecKernelNodeSetParams_v2")
def set_kernel(driver: Driver, graph: Size, node: Size, description: Pointer) -> None:
    driver.get(graph, Graph).nodes[node] = _kernel(driver, description)


@driver_function("cuGraphExecMemcpyNodeSetParams")
def set_copy(driver: Driver, graph: Size, node: Size, description: Pointer) -> None:
    driver.get(graph, Graph).nodes[node] = _copy(driver, description)


@driver_function("cuGraphUpload")
def upload(driver: Driver, graph: Size) -> None:
    assert driver.get(graph, Graph)


@driver_function("cuGraphLaunch")
def launch(driver: Driver, graph: Size) -> None:
    for work in driver.get(graph, Graph).nodes.values():
        work()


def _add(driver: Driver, result: int, graph: int, work: Work) -> None:
    node = driver.add(work)
    driver.get(graph, Graph).nodes[node] = work
    write_word(result, node)


def _kernel(driver: Driver, description: int) -> Work:
    given = _KernelNode.from_buffer_copy(_KernelNode.from_address(description))
    kernel = driver.get(given.kernel, Kernel)
    grid_x, grid_y, grid_z = given.grid
    block_x, block_y, block_z = given.block
    parameters = parameter_bytes(kernel, given.parameters, given.extra)
    shape = LaunchShape(
        (grid_x, grid_y, grid_z), (block_x, block_y, block_z), given.shared_bytes, cluster_of(kernel)
    )
    return lambda: driver.launches.launch(kernel, shape, parameters)


def _copy(driver: Driver, description: int) -> Work:
    given = Copy3D.from_buffer_copy(Copy3D.from_address(description))
    return lambda: copy_box(driver, given)
