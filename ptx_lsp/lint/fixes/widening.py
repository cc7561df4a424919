"""Fixes for a pointer in a 32-bit register if the whole pointer is known.

1. The register is a truncated pointer: its only write is `cvt.u32.u64 %r, %rd`, with `%rd` written once
   before and the address used after. The address becomes `[%rd]`.
2. The register was declared too narrow: it has a separate declaration, and all its uses in the body accept a
   64-bit register. The declaration becomes `.b64`.
"""

from __future__ import annotations

from ptx_lsp.analyses.instructions.uses_and_defs import InstructionInfo, instructions
from ptx_lsp.isa.matching.mismatch import mismatch
from ptx_lsp.isa.schema.operand import Argument, Operand
from ptx_lsp.isa.types import TYPES
from ptx_lsp.lint.diagnostic import FixProposal, Replacement
from ptx_lsp.lint.fixes.deletion_edits import declarations_in
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.symbols import Register
from ptx_lsp.syntax import nodes

_CUT = frozenset(f"cvt.{narrow}.{wide}" for narrow in ("u32", "s32") for wide in ("u64", "s64"))


def widen(function: Function, instruction: nodes.Instruction, base: nodes.Name) -> FixProposal | None:
    """Replaces the pointer `base` in `instruction` with the whole one; None if that is unknown."""
    register = function.resolve(base)
    if not isinstance(register, Register):
        return None
    whole = _whole(function, instruction, register)
    if whole is not None:
        replacement = Replacement(function.place(base), whole.text)
        return FixProposal(
            f"Use `{whole.text}`, whose lower half is `{base.text}`", (replacement,), safe=False
        )
    return _declare_wider(function, register)


def _whole(function: Function, use: nodes.Instruction, register: Register) -> nodes.Name | None:
    """The register that the only write of `register` cuts off (1)."""
    match _writes(function, register):
        case [InstructionInfo(node=nodes.Instruction(guard=None, operands=(_, nodes.Name() as wide))) as cut]:
            whole = function.resolve(wide)
        case _:
            return None
    if cut.spelling not in _CUT or not isinstance(whole, Register):
        return None
    origin = _writes(function, whole)
    in_order = len(origin) == 1 and origin[0].number < cut.number and cut.node.start < use.start
    return wide if in_order else None


def _writes(function: Function, register: Register) -> list[InstructionInfo]:
    known = instructions(function)
    number = known.index_of(register)
    return [step for step in known.instructions if number in step.defs]


def _declare_wider(function: Function, register: Register) -> FixProposal | None:
    """Declares `register` as `.b64` (2)."""
    declaration = declarations_in(function).get(id(register.declarator))
    if declaration is None or len(declaration.declarators) > 1 or register.declarator.range is not None:
        return None
    types = [modifier for modifier in declaration.modifiers if modifier.text in TYPES]
    known = instructions(function)
    number = known.index_of(register)
    using = [step for step in known.instructions if number in (*step.uses, *step.defs, step.guard)]
    if len(types) != 1 or not all(_suits(function, step, register) for step in using):
        return None
    replacement = Replacement(function.place(types[0]), ".b64")
    return FixProposal(f"Declare `{register.name}` as `.b64`", (replacement,), safe=False)


def _suits(function: Function, step: InstructionInfo, register: Register) -> bool:
    """Whether `step` accepts a 64-bit register wherever it names this one."""
    if step.match is None:
        return False
    for (_, wanted), operand in zip(step.match.places, step.node.operands, strict=False):
        if not any(function.resolve(name) is register for name in names_in(operand)):
            continue
        wide = Argument("register", ".b64")
        match operand:
            case nodes.Name():
                is_right = _has_64_bits(wanted) and not mismatch(wanted, wide)
            case nodes.Address():
                is_right = not mismatch(wanted, Argument("address", parts=(wide,)))
            case _:
                is_right = False
        if not is_right:
            return False
    return True


def _has_64_bits(wanted: Operand) -> bool:
    types = [TYPES[name] for name in str(wanted.type).split("|") if name in TYPES]
    return bool(types) and all(type.width == 64 for type in types)
