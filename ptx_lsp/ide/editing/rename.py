"""Renames a symbol everywhere, or reports why that is impossible.

1. A register of a range (`%r3` of `.reg .b32 %r<8>`) gets a separate declaration after that of the range,
   which is not changed. Renaming the range at its declaration renames all its registers.
2. A function is renamed in all its declarations, calls and aliases, and in debugging sections.
3. A parameter is renamed in the function, and in declarations that use the same name for it.
4. A symbol that another file defines is renamed if the files that have it are known. The new name must not
   be a predefined name of PTX, nor refer to another symbol where the old name is used or declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.ide.cursor.cursor_context import cursor_context
from ptx_lsp.ide.cursor.occurrences import Occurrence, declarations, is_range, occurrences
from ptx_lsp.ide.cursor.symbol_at import SymbolReference, symbol_at
from ptx_lsp.model.body import predefined
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import (
    AggregateName,
    AliasName,
    FunctionName,
    Label,
    Predefined,
    Register,
    Symbol,
    Variable,
)
from ptx_lsp.syntax import nodes
from ptx_lsp.text import Edit, Span


class RenameError(ValueError):
    """Why a name cannot be changed, or not to the new one."""


def prepare_rename(module: Module, offset: int, *, is_linked: bool = False) -> Span:
    """The name at `offset` that can be changed. Raises RenameError if there is none. `is_linked`: the other
    files that have this name are known.
    """
    return _renameable(module, offset, is_linked).span


def rename(module: Module, offset: int, new: str, *, is_linked: bool = False) -> tuple[Edit, ...]:
    """The edits that rename the symbol at `offset` to `new`, in order. `is_linked`: the other files that have
    this name are renamed, too.

    Raises RenameError if that is impossible.
    """
    found = _renameable(module, offset, is_linked)
    if new == found.symbol.name:
        return ()
    _check_name(found.symbol, new)
    everywhere = list(_everywhere(module, found))
    _check_free(module, found, everywhere, new)
    if is_numbered(found.symbol):
        return _split_out(module, found, everywhere, new)
    return tuple(sorted({_renamed(one, found.symbol, module, new) for one in everywhere}))


def is_numbered(symbol: Symbol) -> bool:
    """Whether it is one register or variable of a range such as `%r<8>`."""
    return (
        isinstance(symbol, Register | Variable)
        and symbol.declarator.range is not None
        and not is_range(symbol)
    )


def _renameable(module: Module, offset: int, is_linked: bool) -> SymbolReference:
    found = symbol_at(module, offset)
    if found is None:
        raise RenameError("no name declared in this file at the cursor")
    symbol = found.symbol
    if isinstance(symbol, Predefined):
        raise RenameError(f"`{symbol.name}` is a name of PTX itself")
    if isinstance(symbol, AggregateName):
        raise RenameError(f"`{symbol.name}` is a PTX 1.x structure, whose uses are unknown")
    if isinstance(symbol, FunctionName | AliasName) and not is_linked:
        same = [one for one in declarations(module, symbol) if isinstance(one, FunctionName)]
        if same and not any(one.is_definition for one in same) and any(
            one.linkage == ".extern" for one in same
        ):
            raise RenameError(f"another file defines `{symbol.name}`")
    if isinstance(symbol, Variable) and not found.is_local and not is_linked:
        same = [one for one in declarations(module, symbol) if isinstance(one, Variable)]
        is_elsewhere = all(one.linkage == ".extern" for one in same)
        if is_elsewhere and symbol.space != ".shared":  # whose size the launch gives
            raise RenameError(f"another file defines `{symbol.name}`")
    if isinstance(symbol, Variable) and is_numbered(symbol):
        base = symbol.declarator.name.text
        raise RenameError(
            f"`{symbol.name}` is part of the range `{base}<...>`, which is contiguous in memory"
        )
    if is_numbered(symbol) and not found.is_local:
        raise RenameError(
            f"`{symbol.name}` is part of a register range declared for the whole file"
        )
    return found


_NAME = re.compile(r"[A-Za-z_][\w$]*|[$%][\w$]+", re.ASCII)


def _check_name(symbol: Symbol, new: str) -> None:
    if _NAME.fullmatch(new) is None:
        raise RenameError(
            f"`{new}` is not a valid PTX name: use letters, digits, `_` and `$`; "
            "the first must not be a digit, but can be `%`"
        )
    if new in ("_", "inlined_at", "function_name") or predefined(new) is not None:
        raise RenameError(f"`{new}` is a name of PTX itself")
    if is_range(symbol) and new[-1].isdigit():
        raise RenameError(
            f"the name of a range cannot end in a digit, because a number is appended (`{new}0`)"
        )


# -- places ---------------------------------------------------------------------------------------


def _everywhere(module: Module, found: SymbolReference) -> Iterator[Occurrence]:
    yield from occurrences(module, found)
    symbol = found.symbol
    if isinstance(symbol, Register | Variable) and symbol.is_parameter and found.function is not None:
        yield from _in_declarations(module, found.function, symbol)
    if isinstance(symbol, Label | FunctionName | AliasName | Variable) and not (
        isinstance(symbol, Variable) and found.is_local
    ):
        yield from _in_sections(module, found)


def _in_declarations(
    module: Module, function: Function, symbol: Register | Variable
) -> Iterator[Occurrence]:
    """The parameter at the same position and of the same name of the function's other declarations."""
    body = function.body
    for name, group in (("parameters", body.parameters), ("returns", body.returns)):
        position = next((at for at, one in enumerate(group) if one is symbol), None)
        if position is None:
            continue
        for other in module.functions:
            if other is function or other.name != function.name or not function.name:
                continue
            there = other.body.parameters if name == "parameters" else other.body.returns
            if position < len(there) and there[position].name == symbol.name:
                same = SymbolReference(found_name(there[position]), Span(0, 0), there[position], other)
                yield from occurrences(module, same)


def found_name(symbol: Register | Variable) -> nodes.Name:
    """The name in a declaration."""
    return symbol.declarator.name


def _in_sections(module: Module, found: SymbolReference) -> Iterator[Occurrence]:
    """Debugging data names labels and functions."""
    name = found.symbol.name
    pattern = re.compile(rf"(?<![\w$%.]){re.escape(name)}(?![\w$])", re.ASCII)
    text = module.document.source.text
    hits = [
        Span(*hit.span())
        for item in module.document.items
        if isinstance(item.node, nodes.Section)
        for hit in pattern.finditer(text, item.start, item.end)
    ]
    if not hits:
        return
    if isinstance(found.symbol, Label):
        others = [f for f in module.functions if any(one.name == name for one in f.body.labels)]
        if len(others) > 1:
            raise RenameError(
                f"a debugging section refers to `{name}`, which is a label in several functions"
            )
    for hit in hits:
        yield Occurrence(hit, "other")


# -- collisions -----------------------------------------------------------------------------------


def _check_free(module: Module, found: SymbolReference, everywhere: list[Occurrence], new: str) -> None:
    functions = {id(one.function): one.function for one in everywhere if one.function is not None}
    if found.function is not None and found.is_local:
        functions[id(found.function)] = found.function
    else:
        _check_module(module, found, new)
    for function in functions.values():
        _check_function(function, found, new)


def _check_module(module: Module, found: SymbolReference, new: str) -> None:
    end = len(module.document.source.data)
    if is_range(found.symbol):
        taken = re.compile(rf"{re.escape(new)}\d+", re.ASCII)
        clash = next((name for name in sorted(module.names) if taken.fullmatch(name)), None)
        if clash is not None or module.find(f"{new}0", end) is not None:
            raise RenameError(f"`{clash or new}` is already declared")
        return
    other = module.find(new, end)
    if other is not None and other.name != found.symbol.name:
        raise RenameError(f"`{new}` is already declared as a {other.kind}")


def _check_function(function: Function, found: SymbolReference, new: str) -> None:
    if is_range(found.symbol):
        taken = re.compile(rf"{re.escape(new)}\d+", re.ASCII)
        names = {name for scope in function.body.scopes for name in scope.names}
        names.update(function.free)
        bases = {base for scope in function.body.scopes for base in scope.ranges}
        clash = next((name for name in sorted(names) if taken.fullmatch(name)), None)
        if clash is not None or new in bases:
            raise RenameError(f"`{clash or new}` is already declared or used in this function")
        return
    for scope in function.body.scopes:
        other = scope.find_here(new)
        if other is not None:
            line = _line(function, other)
            raise RenameError(f"`{new}` is already declared in this function, in line {line}")
    if new in function.free and found.is_local:
        raise RenameError(f"this function already uses a `{new}` of the file")


def _line(function: Function, symbol: Symbol) -> int:
    module = function.module
    start = function.item.start if isinstance(symbol, Predefined) else module.span(symbol.place).start
    return module.document.source.line_of(start) + 1


# -- edits ----------------------------------------------------------------------------------------


def _renamed(one: Occurrence, symbol: Symbol, module: Module, new: str) -> Edit:
    """Of a register in a range that is renamed, the number stays."""
    start, end = one.span
    if not is_range(symbol):
        return Edit(start, end, new.encode())
    return Edit(start, start + len(symbol.name), new.encode())


def _split_out(
    module: Module, found: SymbolReference, everywhere: list[Occurrence], new: str
) -> tuple[Edit, ...]:
    """Gives the register a separate declaration, after that of its range."""
    place = cursor_context(module, module.span(_declared(found.symbol).place).start)
    declaration = next(
        (node for node in place.path if isinstance(node, nodes.Declaration)), None
    ) if place is not None else None
    if place is None or declaration is None or not declaration.declarators:
        raise RenameError("its declaration has errors")
    source = module.document.source
    span = place.span(declaration)
    head = source.data[span.start : span.start + declaration.declarators[0].start - declaration.start]
    line = source.line_span(source.line_of(span.start))
    indent = source.data[line.start : span.start]
    gap, at = b" ", span.end
    if not indent.strip():
        gap = source.line_end(at).encode() + indent
        end = source.line_span(source.line_of(at)).end
        if _COMMENTS.fullmatch(source.data, at, end):  # which are about the range
            at = end
    added = gap + head.rstrip() + b" " + new.encode() + b";"
    edits = [
        Edit(*one.span, new.encode()) for one in everywhere if one.use != "declaration"
    ]
    return (Edit(at, at, added), *sorted(edits))


_COMMENTS = re.compile(rb"(?:[ \t]|/\*(?:[^*]|\*(?!/))*\*/)*(?://.*)?")
"""Blanks and comments, to the end of a line."""


def _declared(symbol: Symbol) -> Register | Variable:
    assert isinstance(symbol, Register | Variable)
    return symbol
