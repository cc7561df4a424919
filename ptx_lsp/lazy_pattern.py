"""Regular expressions that are compiled when they are first used: that takes longer than to import a small
module, and most serve only what has mistakes.
"""

from __future__ import annotations

from ptx_lsp.static_typing import TYPE_CHECKING, AnyStr, Generic, cast

if TYPE_CHECKING:
    import re
    from collections.abc import Callable
    from typing import Final


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but later. The module `re` does not take it in place of a pattern."""
    found = _Pattern(text, flags)
    _COMPILE.append(found.compile)
    return cast("re.Pattern[AnyStr]", found)  # pyrefly: ignore[invalid-cast]


def compile_patterns() -> None:
    """Compiles all patterns, each of which is else compiled when it is first used."""
    for compile in _COMPILE:
        compile()


class _Pattern(Generic[AnyStr]):
    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        import re

        found: object = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)  # found there from now on
        return found

    def compile(self) -> None:
        for name in _METHODS:
            getattr(self, name)


_METHODS: Final = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")
_COMPILE: Final[list[Callable[[], None]]] = []
