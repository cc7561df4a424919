"""Recognises inline assembly of other machines, such as x86, which the same construct can hold."""

from __future__ import annotations

from functools import cache
from typing import Final

from ptx_lsp.embedded.block import Block
from ptx_lsp.isa.modifiers.lookup import describe
from ptx_lsp.isa.schema.table import opcodes
from ptx_lsp.lazy_pattern import lazy_pattern

_LETTERS: Final = frozenset("hrlqfdnC0123456789")
"""The constraints of PTX in nvcc."""
_LLVM_LETTERS: Final = _LETTERS | frozenset("bcNisX*")
"""The constraints of PTX in LLVM, with those that all its targets have."""
_RUST_CLASSES: Final = frozenset(("reg16", "reg32", "reg64"))
"""The classes of registers in Rust that no other machine has."""
_RUST_CONSTANTS: Final = frozenset(("const", "sym"))
_STATEMENT: Final = lazy_pattern(
    rb"(?:^|[;{}:\n])[ \t\r]*(?:@!?[%\w$]+\s+)?(?P<opcode>[a-z]\w*)(?P<modifiers>(?:\.[\w:]*)*)|\.reg\b"
)
_WITHOUT_MODIFIERS: Final = frozenset((b"bra", b"brkpt", b"exit", b"ret", b"trap"))
_STATE_SPACES: Final = frozenset(("const", "global", "local", "param", "shared"))
_OF_DEVICES: Final = ("cuda", "python")
"""Languages whose inline assembly is mostly PTX."""


def is_foreign(block: Block) -> bool:
    """Whether a block is not PTX. In CUDA and Python, and where a condition holds only for GPUs, it is PTX if
    anything looks like an instruction with a modifier; in languages for other machines, one must exist.
    """
    if block.is_ptx:
        return False
    constraints = [one.constraint for one in block.operands]
    if not all(_is_of_ptx(one, block.language) for one in constraints):
        return True
    if block.language == "rust" and not _RUST_CLASSES.isdisjoint(constraints):
        return False
    is_device = block.language in _OF_DEVICES or (block.guard is not None and bool(block.guard.certain))
    for match in _STATEMENT.finditer(block.text.data):
        opcode = match["opcode"]
        if opcode is None or (
            opcode in _WITHOUT_MODIFIERS and block.language in (*_OF_DEVICES, "cpp")
        ):
            return False
        modifiers = match["modifiers"]
        if len(modifiers) > 1 and (
            is_device or _is_instruction(opcode.decode(), modifiers.decode())
        ):
            return False
    return not (is_device and block.text.holes)


def _is_of_ptx(constraint: str, language: str) -> bool:
    """Whether PTX has the kind of operand that a constraint, or a class of registers, names."""
    if language == "rust":
        return constraint in _RUST_CLASSES or constraint in _RUST_CONSTANTS or "$" in constraint
    if "_hole" in constraint:
        return True
    letters = _LETTERS if language in ("cuda", "cpp") else _LLVM_LETTERS
    return letters.issuperset(constraint.strip("=+&% "))


def _is_instruction(opcode: str, modifiers: str) -> bool:
    """Whether PTX has an opcode, and with it one of the modifiers; or whether one is a state space, which no
    other machine writes so.
    """
    words = modifiers[1:].split(".")
    if not _STATE_SPACES.isdisjoint(words):
        return True
    return opcode in _opcodes() and any(describe(opcode, f".{word}") is not None for word in words)


@cache
def _opcodes() -> frozenset[str]:
    return frozenset(opcodes())
