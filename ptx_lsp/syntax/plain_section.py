"""Reads the files and sections of debug information without a tree, if all of their lines are plain. There
may be thousands.
"""

from __future__ import annotations

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.static_typing import TYPE_CHECKING
from ptx_lsp.syntax import nodes

if TYPE_CHECKING:
    from typing import Final

_BYTE: Final = r"(?:1[0-9][0-9]|2[0-4][0-9]|25[0-5]|[1-9]?[0-9])(?![0-9])"
_SMALL: Final = r"(?:0|[1-9][0-9]{0,3})(?![0-9])"
_WORD: Final = r"(?:0|[1-9][0-9]{0,8})(?![0-9])"
_NAME: Final = r"(?!(?:WARP_SZ|_|function_name|inlined_at)(?![A-Za-z0-9_$]))[A-Za-z_$][A-Za-z0-9_$]*+"
_SECTION_NAME: Final = r"\.debug_[a-z_]++"
_BLANKS: Final = r"[ \t]++"
_END: Final = r"[ \t]*+(?://[^\n]*+|\r?)(?=\n)"
_COMMA: Final = r"[ \t]*+,[ \t]*+"
_ADDRESS: Final = rf"(?:{_SECTION_NAME}(?:\+{_WORD})?+|{_NAME}(?:-{_NAME}|\+{_WORD})?+)"
_LINE: Final = (
    rf"\.b8{_BLANKS}{_BYTE}(?:{_COMMA}{_BYTE})*+{_END}"
    rf"|\.b16{_BLANKS}{_SMALL}(?:{_COMMA}{_SMALL})*+{_END}"
    rf"|\.b(?:32|64){_BLANKS}(?:{_WORD}(?:{_COMMA}{_WORD})*+|{_ADDRESS}){_END}"
    rf"|{_NAME}:{_END}"
    r"|//[^\n]*+(?=\n)"
)
_SECTION: Final = lazy_pattern(
    rf"\.section{_BLANKS}({_SECTION_NAME})[ \t\r\n]*+\{{[ \t]*+(?:\r?\n[ \t]*+(?:{_LINE})?+)*+[ \t\r\n]*+\}}"
)
_LABEL: Final = lazy_pattern(rf"\n[ \t]*({_NAME}):")
_TYPES: Final = tuple([
    (name, lazy_pattern(rf"\n[ \t]*(\{name})[ \t]")) for name in (".b8", ".b16", ".b32", ".b64")
])
_FILE: Final = lazy_pattern(
    rf'\.file{_BLANKS}({_WORD}){_BLANKS}("[^"\\\r\n]*+")(?:{_COMMA}({_WORD}){_COMMA}({_WORD}))?+(?={_END})'
)


def plain_section(text: str, at: int) -> tuple[int, nodes.Section] | None:
    """The end and the node of the section at an offset; None if the tree has to decide."""
    found = _SECTION.match(text, at)
    if found is None:
        return None
    end = found.end()
    types = [
        nodes.Name(one.start(1) - at, one.end(1) - at, name)
        for name, pattern in _TYPES
        if (one := pattern.search(text, at, end)) is not None
    ]
    types.sort(key=lambda name: name.start)
    labels = [
        nodes.Name(one.start(1) - at, one.end(1) - at, one[1]) for one in _LABEL.finditer(text, at, end)
    ]
    name = nodes.Name(found.start(1) - at, found.end(1) - at, found[1])
    return end, nodes.Section(0, end - at, name, tuple(labels), tuple(types))


def plain_file(text: str, at: int) -> tuple[int, nodes.File] | None:
    """The end and the node of the `.file` at an offset; None if the tree has to decide."""
    found = _FILE.match(text, at)
    if found is None:
        return None

    def number(group: int) -> nodes.Number:
        return nodes.Number(found.start(group) - at, found.end(group) - at, found[group], "integer")

    path = nodes.String(found.start(2) - at, found.end(2) - at, found[2])
    numbers = (number(3), number(4)) if found[3] is not None else ()
    return found.end(), nodes.File(0, found.end() - at, number(1), path, numbers)
