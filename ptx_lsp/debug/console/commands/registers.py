"""Registers: of the thread in focus, and of all lanes of its warp."""

from __future__ import annotations

from ptx_lsp.debug import values
from ptx_lsp.debug.console.candidates import symbols
from ptx_lsp.debug.console.command import command
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.displays import warp_rows
from ptx_lsp.debug.console.tables import table
from ptx_lsp.debug.console.values import Value, of_register
from ptx_lsp.debug.request_error import RequestError


@command("info registers", "r", candidates=symbols)
def info_registers(console: Console, text: str) -> None:
    """The registers of the thread in focus: their bits, and their values.
    Usage: info registers [REGISTER | system]...
    Without names, all of the function but for predicates; `system` has predicates and special registers.
    """
    group, frame, lanes = console.group, console.frame, console.lanes
    known = values.registers(frame)
    names = text.replace(",", " ").split()
    rows: list[tuple[str, str, str]] = []
    for name in names or [one.name for one in known if not one.is_predicate]:
        if name == "system":
            rows += [_row(one.name, of_register(group, one, lanes)[0]) for one in known if one.is_predicate]
            rows += [_row(one, console.value(one)) for one in values.SPECIAL]
            continue
        found = [one for one in known if one.name.lstrip("%$") == name.lstrip("%$")]
        if not found and name not in values.SPECIAL:
            raise RequestError(f"Invalid register `{name}'")
        value = of_register(group, found[0], lanes)[0] if found else console.value(name)
        rows.append(_row(found[0].name if found else name, value))
    console.say(*(table(rows, "<<<") if rows else ["The function has no registers."]))


def _row(name: str, value: Value) -> tuple[str, str, str]:
    return name, value.formatted("x"), value.text


@command("info all-registers")
def info_all_registers(console: Console, text: str) -> None:
    """The registers of the thread in focus, with predicates and special registers."""
    info_registers.action(console, "")
    info_registers.action(console, "system")


@command("info warp", candidates=symbols)
def info_warp(console: Console, text: str) -> None:
    """Registers or expressions in all lanes of the warp in focus.
    Usage: info warp [EXPRESSION, ...]
    Without expressions, all registers of the function. Lanes that are elsewhere have a dot.
    """
    known = values.registers(console.frame)
    console.say(*warp_rows(console, _split(text) or [one.name for one in known]))


def _split(text: str) -> list[str]:
    """Expressions between commas, or names between spaces."""
    found = [one.strip() for one in text.split(",")]
    if len(found) == 1 and all(one[0] in "%$_" or one[0].isalpha() for one in text.split()):
        found = text.split()
    return [one for one in found if one]
