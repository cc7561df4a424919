"""Wakes as plain data: what must occur in a module for a pass to find something. They are kept with the names
of the passes, so that the code of those that find nothing is not even imported.

They are wider than the wakes that they are made from: conditions in code are left out, and what occurs may be
in different functions.
"""

from __future__ import annotations

from ptx_lsp.model.function_wakes import FAILED_CHECKS, FunctionWake, instruction_wake
from ptx_lsp.model.instructions.checks import checks
from ptx_lsp.model.instructions.shapes import shape_counts
from ptx_lsp.model.module import Module
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final, TypeAlias

Occurrence: TypeAlias = tuple[tuple[str, ...] | None, int]
"""One of some opcodes (None: of all), and one of some features (0: none is needed)."""
ModuleWake: TypeAlias = tuple[tuple[Occurrence, ...], ...]
"""One of each group must occur."""

FAILED: Final = 1 << 62
"""The feature of a module that an instruction of it does not match the table."""


def module_wake(wake: FunctionWake) -> ModuleWake:
    """The part of a wake that is data."""
    groups = [_occurrences(mask) for mask in wake.masks]
    return tuple([group for group in groups if group is not None])


def _occurrences(mask: int) -> tuple[Occurrence, ...] | None:
    """What the bits of a mask stand for; None if one of them stands for anything else."""
    found: list[Occurrence] = []
    while mask:
        bit = mask & -mask
        mask ^= bit
        wake = instruction_wake(bit)
        if bit == FAILED_CHECKS.masks[0]:
            found.append((None, FAILED))
        elif wake is not None and (wake.opcodes is not None or wake.features):
            names = None if wake.opcodes is None else tuple(sorted(wake.opcodes))
            found.append((names, wake.features))
        else:
            return None
    return tuple(found)


class Occurring:
    """All opcodes and features of a module."""

    __slots__ = ("features", "opcodes")

    def __init__(self, module: Module) -> None:
        self.opcodes: set[str] = set()
        self.features = 0
        for function in module.functions:
            if not function.body.instructions:
                continue
            for shape in shape_counts(function).counts:
                self.opcodes.add(shape.opcode)
                self.features |= shape.features
            if not self.features & FAILED and checks(function):
                self.features |= FAILED

    def wakes(self, wake: ModuleWake) -> bool:
        """Whether a pass with this wake may find something."""
        return all(any(self._has(*one) for one in group) for group in wake)

    def _has(self, opcodes: tuple[str, ...] | None, features: int) -> bool:
        if features and not features & self.features:
            return False
        return opcodes is None or not self.opcodes.isdisjoint(opcodes)
