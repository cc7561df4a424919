"""The rule `constant-bank`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.target import Version
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import each_function, each_functions_directives, module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.function_wakes import woken_by
from ptx_lsp.model.instructions.features import WITH_BANK
from ptx_lsp.model.instructions.wakes import InstructionWake
from ptx_lsp.model.instructions.woken_facts import collect_over_instructions
from ptx_lsp.model.module import Module, module_of
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.literals import integer

_FIRST, _REMOVED = Version(1, 5), Version(2, 2)
_MOST = 10
"""ptxas 13.5 takes the banks 0 to 10, though it says that 1 to 11 are for arrays of unknown size."""


@module_rule("constant-bank", code="E190", words=(".const",))
def constant_bank(module: Module) -> Iterator[Finding]:
    """A constant bank, such as `.const[2]`, that the file's `.version` or the declaration does not allow.

    ## What it does
    Reports `.const[0]` to `.const[10]` since PTX ISA 2.2, the banks 1 to 10 before 1.5, greater bank
    numbers, and declarations in the banks 1 to 10 other than `.extern` arrays of unknown size, which in
    turn are not allowed in bank 0.

    ## Why it matters
    ptxas rejects them. Since PTX ISA 2.2 there is one constant space; further banks are passed as
    pointers.

    ## Example
    ```ptx
    .version 2.2
    .target sm_20
    .const[0] .align 4 .b32 scale;
    .entry kernel()
    {
        exit;
    }
    ```

    ## Use instead
    ```ptx
    .version 2.2
    .target sm_20
    .const .align 4 .b32 scale;
    .entry kernel()
    {
        exit;
    }
    ```

    ## Fix safety
    `.const` means bank 0, so the fix removes `[0]` where banks are no longer supported. Other banks have
    no fix.
    """
    for declared in declarations_outside(module):
        yield from _of_declaration(module, declared)
    yield from _in_directives(module)
    yield from _in_functions(module)


@each_functions_directives
def _in_directives(function: Function) -> Iterator[Finding]:
    for declared in declarations_of(function):
        yield from _of_declaration(module_of(function), declared)


_WITH_BANK = InstructionWake(features=WITH_BANK)


@each_function(woken_by(_WITH_BANK))
def _in_functions(function: Function) -> Iterator[Finding]:
    yield from _of_instructions(function)


@collect_over_instructions(_WITH_BANK)
def _of_instructions(function: Function, instruction: nodes.Instruction) -> Iterator[Finding]:
    bank = instruction.opcode.bank
    if bank is None:
        return
    number = int(bank.text.removeprefix(".const[").removesuffix("]"))
    message = _about(number, function.module.version)
    if message is not None:
        yield _finding(function.place(bank), number, message, function.module.version)


def _of_declaration(module: Module, declared: Declared) -> Iterator[Finding]:
    node = declared.node
    if declared.space != ".const" or node.space is None or not isinstance(node.bank, nodes.Number):
        return
    number = integer(node.bank.text)
    if number is None:
        return
    message = _about(number, module.version)
    if message is None:
        is_open = all(_is_open(one) for one in node.declarators)
        is_extern = any(word.text == ".extern" for word in node.linkage)
        if number and not (is_open and is_extern):
            message = (
                f"bank {number} is only for arrays of unknown size, such as `.extern "
                f".const[{number}] .b32 name[];`"
            )
        elif not number and is_extern and is_open and node.declarators:
            message = (
                f"an array of unknown size must be in one of the banks 1 to {_MOST}, not in bank 0"
            )
    if message is not None:
        space = Place(declared.owner, node.space.start, node.bank.end + 1)
        yield _finding(space, number, message, module.version)


def _about(number: int, version: Version | None) -> str | None:
    """What is wrong with a bank wherever it stands."""
    if version is not None and version >= _REMOVED:
        return f"constant banks were removed in PTX ISA {_REMOVED}; write `.const`"
    if number > _MOST:
        return f"constant bank {number} does not exist; the banks are 0 to {_MOST}"
    if number and version is not None and version < _FIRST:
        return f"constant banks 1 to {_MOST} require PTX ISA {_FIRST}; the file declares {version}"
    return None


def _finding(place: Place, number: int, message: str, version: Version | None) -> Finding:
    is_removed = version is not None and version >= _REMOVED
    remedy = (
        FixProposal("Write `.const`", (Replacement(place, ".const"),))
        if is_removed and not number
        else None
    )
    return Finding(place, message, fix=remedy)


def _is_open(declarator: nodes.Declarator) -> bool:
    """Whether the array has no size; `[0]` says the same to ptxas."""
    if not declarator.dimensions:
        return False
    first = declarator.dimensions[0]
    return first is None or (isinstance(first, nodes.Number) and integer(first.text) == 0)
