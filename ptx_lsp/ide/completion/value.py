"""Initial values: the addresses of earlier declarations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from ptx_lsp.ide.completion.register import MOST
from ptx_lsp.ide.completion.suggestion import Suggestion, plain
from ptx_lsp.ide.cursor.partial_statement import PartialStatement
from ptx_lsp.model.symbols import Variable, element_type

_SPACES = frozenset((".global", ".const"))
"""The state spaces whose variables have initial values, and those whose addresses can be values."""
_TYPES = frozenset((".u32", ".u64"))
"""The types that hold an address. ptxas does not accept `.b64` for that, and `.u8` only with masked bytes."""


def initial_values(typing: PartialStatement) -> list[Suggestion]:
    """Names and `generic(...)` after the `=` of a declaration, its braces and their commas."""
    words = typing.words
    if not _SPACES.intersection(words) or not _TYPES.intersection(words):
        return []
    if words[-2:] == ("generic", "("):
        return list(islice(_variables(typing), MOST))
    is_listed = words.count("{") > words.count("}")
    before = ("{", ",") if is_listed else ("=",)
    if words[-1] not in before or words[-2:] == ("]", "="):  # an array takes a list
        return []
    variables = list(islice(_variables(typing), MOST))
    found = [*variables, *islice(_functions(typing), MOST)]
    if variables or typing.word:
        text = "generic(${1:variable})"
        found.append(Suggestion("generic", "name", text, "the generic address", 2, is_snippet=True))
    return found


def _variables(typing: PartialStatement) -> Iterator[Suggestion]:
    module, function = typing.module, typing.function
    inner = function.body.variables if function is not None else ()
    for symbol in chain(inner, module.variables):
        if (
            isinstance(symbol, Variable) and symbol.space in _SPACES
            and symbol.name.startswith(typing.word)
            and module.span(symbol.place).end < typing.start
        ):
            detail = f"{symbol.space} {element_type(symbol.declaration)}"
            yield plain(symbol.name, "variable", detail)


def _functions(typing: PartialStatement) -> Iterator[Suggestion]:
    """Functions, and kernels, whose descriptors a kernel can launch."""
    names: set[str] = set()
    for function in typing.module.functions:
        symbol = function.symbol
        if function.item.start > typing.span.start:
            break
        if symbol.name and symbol.name not in names and symbol.name.startswith(typing.word):
            names.add(symbol.name)
            kind = "kernel" if symbol.is_kernel else "function"
            yield plain(symbol.name, kind, kind, 1, key=f"function {symbol.name}")
