"""Regular expressions that are compiled when they are first used: that takes longer than to import a small
module, and most serve only what has mistakes.
"""

from __future__ import annotations

import re
from typing import AnyStr, Generic, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but later. The module `re` does not take it in place of a pattern."""
    return cast("re.Pattern[AnyStr]", _Pattern(text, flags))


class _Pattern(Generic[AnyStr]):
    def __init__(self, text: AnyStr, flags: int) -> None:
        self._text: AnyStr = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        found: object = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)  # found there from now on
        return found
