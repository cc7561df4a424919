"""Names that several files share: functions and variables with `.visible`, `.extern`, `.weak` or `.common`.

1. A file defines such a name unless all of its declarations are `.extern` or have no body. In PTX, a name
   without linkage is visible only in its own file.
2. `.extern .shared` of an array without size is the dynamic shared memory of a launch. No file defines it.
"""

from __future__ import annotations

from ptx_lsp.ide.cursor.occurrences import Occurrence, occurrences
from ptx_lsp.ide.cursor.symbol_at import SymbolReference, symbol_at
from ptx_lsp.ide.navigation.symbols import SymbolSort, sort_of
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import FunctionName, Symbol, Variable
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.text import Span

_LINKED = frozenset({".visible", ".extern", ".weak", ".common"})


class FileSymbol(NamedTuple):
    """A declaration at file level. `is_linked`: other files can use the name."""

    name: str
    sort: SymbolSort
    span: Span
    is_linked: bool
    is_definition: bool


class LinkedName(NamedTuple):
    """A name that several files can share. `is_defined`: by the file at hand."""

    name: str
    is_defined: bool


def file_symbols(module: Module) -> tuple[FileSymbol, ...]:
    """The functions and variables that a file declares, each as often as declared."""
    symbols = (*(one.symbol for one in module.functions if one.name), *module.variables)
    return tuple(
        FileSymbol(one.name, sort_of(one), module.span(one.place), _is_linked(one), _is_definition(one))
        for one in symbols
    )


def linked_name(module: Module, offset: int) -> LinkedName | None:
    """The name at `offset`, if other files can share it."""
    found = symbol_at(module, offset)
    if found is None or found.is_local:
        return None
    same = _declarations(module, found.symbol.name)
    if found.symbol not in same or not any(map(_is_linked, same)):
        return None
    return LinkedName(found.symbol.name, any(map(_is_definition, same)))


def linked_reference(module: Module, name: str) -> SymbolReference | None:
    """The name where a file first declares it as one that other files can share."""
    for one in _declarations(module, name):
        if _is_linked(one):
            return symbol_at(module, module.span(one.place).start)
    return None


def linked_references(
    module: Module, name: str, include_declaration: bool = True
) -> tuple[Occurrence, ...]:
    """The references of a file to a name that it shares with others, in order."""
    found = linked_reference(module, name)
    if found is None:
        return ()
    return tuple(
        one for one in occurrences(module, found) if include_declaration or one.use != "declaration"
    )


def _declarations(module: Module, name: str) -> list[FunctionName | Variable]:
    named = (one for _, one in module.names.get(name, ()))
    return [one for one in named if isinstance(one, FunctionName | Variable)]


def _is_linked(symbol: Symbol) -> bool:
    if isinstance(symbol, Variable) and symbol.space == ".shared" and symbol.is_unsized:  # 2
        return False
    return isinstance(symbol, FunctionName | Variable) and symbol.linkage in _LINKED


def _is_definition(symbol: Symbol) -> bool:
    if isinstance(symbol, FunctionName):
        return symbol.is_definition
    return isinstance(symbol, Variable) and symbol.linkage != ".extern"
