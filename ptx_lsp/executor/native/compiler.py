"""LLVM: from the text of a function to its machine code. The only module that needs llvmlite."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm

_SPEED = 2


class MachineCode:
    """Compiled functions of two pointers. Python's lock is free while they run."""

    def __init__(self, text: str) -> None:
        machine = _machine()
        module = llvm.parse_assembly(text)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        passes = llvm.create_new_module_pass_manager()  # few, so that it takes a tenth of the time
        passes.add_sroa_pass()
        passes.add_instruction_combine_pass()
        passes.add_new_gvn_pass()
        passes.add_simplify_cfg_pass()
        tuning = llvm.create_pipeline_tuning_options(_SPEED)
        passes.run(module, llvm.create_pass_builder(machine, tuning))
        self._engine = llvm.create_mcjit_compiler(module, machine)  # which owns both from now on
        self._engine.finalize_object()

    def function(self, name: str) -> Callable[[int, int], int]:
        """A function, for as long as this object lives."""
        return _Function(self._engine.get_function_address(name))


_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


def _machine() -> llvm.TargetMachine:
    target, features = _host()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=_SPEED, jit=True)


@cache
def _host() -> tuple[llvm.Target, str]:
    """The processor, and what it can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    features["prefer-256-bit"] = False
    return llvm.Target.from_triple(llvm.get_process_triple()), features.flatten()
