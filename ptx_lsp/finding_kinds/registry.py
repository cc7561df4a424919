"""All kinds of findings by name, in the order of the documentation."""

from __future__ import annotations

from ptx_lsp.finding_kinds.launches import LAUNCHES
from ptx_lsp.finding_kinds.memory import MEMORY
from ptx_lsp.finding_kinds.synchronization import SYNCHRONIZATION
from ptx_lsp.finding_kinds.tensor_cores import TENSOR_CORES

KINDS = {one.name: one for one in (*MEMORY, *SYNCHRONIZATION, *TENSOR_CORES, *LAUNCHES)}
