"""The reference executor: runs PTX without a GPU (`launch`)."""

from ptx_lsp.executor.launching.launch import launch
from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane
from ptx_lsp.executor.machine.multimem_memory import Multimem
from ptx_lsp.executor.machine.tensor_map import TensorMap, tensor_map
from ptx_lsp.executor.machine.texture import Sampler, Surface, Texture
from ptx_lsp.executor.recording.recorder import RecordingFile

__all__ = [
    "ExecutionError", "Finding", "Lane", "Multimem", "RecordingFile", "Sampler", "Surface", "TensorMap",
    "Texture", "launch", "tensor_map",
]
