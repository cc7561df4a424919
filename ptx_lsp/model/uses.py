"""Which declared names a function, or the module around it, makes use of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ptx_lsp.facts import fact
from ptx_lsp.model.body import names_in
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Register, Symbol, Variable
from ptx_lsp.syntax import nodes

_WORD = re.compile(r"[A-Za-z_$%][\w$]*")


@fact
def uses(function: Function) -> frozenset[int]:
    """Whatever the function declares itself and names elsewhere, see `identity`."""
    body = function.body
    symbols = body.symbols
    times = Counter(map(id, symbols.values()))
    for start in _declared_at(function):  # there it is declared, not used
        times[id(symbols.get(start))] -= 1
    by_id = dict(zip(map(id, symbols.values()), symbols.values(), strict=True))
    return frozenset([
        id(symbol.declarator) if isinstance(symbol, Register | Variable) else one
        for one, symbol in by_id.items()
        if times[one] > 0
    ])  # fmt: skip


def identity(symbol: Symbol) -> int:
    """Tells one declared thing from others; the registers of a range are one."""
    return id(symbol.declarator) if isinstance(symbol, Register | Variable) else id(symbol)


def names_elsewhere(module: Module) -> frozenset[str]:
    """The names that statements outside functions mention: initial values, aliases, and the words of the
    sections with debug information.
    """
    found: set[str] = set()
    source = module.document.source
    for item in module.outside:
        match item.node:
            case nodes.Declaration(declarators=declarators):
                for declarator in declarators:
                    if declarator.initializer is not None:
                        found.update(name.text for name in names_in(declarator.initializer))
            case nodes.Alias(name=name, aliasee=aliasee):
                found.update(n.text for n in (name, aliasee) if isinstance(n, nodes.Name))
            case nodes.Section() | nodes.Directive():
                text = source.data[item.start : item.end].decode(errors="replace")
                found.update(_WORD.findall(text))
            case _:
                pass
    return frozenset(found)


def _declared_at(function: Function) -> Iterator[int]:
    """The starts of the names where the function declares something."""
    body = function.body
    for symbols in (body.returns, body.parameters, body.variables, body.registers):
        yield from (symbol.declarator.name.start for symbol in symbols)
    yield from (label.place.start for label in body.labels)
