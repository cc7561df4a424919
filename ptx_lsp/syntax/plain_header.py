"""Reads the directives of most headers without a tree: `.version`, `.target` and `.address_size`, each on a
line of its own. To import what the tree needs takes longer than to lint a small file.
"""

from __future__ import annotations

import sys

from ptx_lsp.syntax import nodes


def plain_header(text: str) -> list[tuple[int, int, nodes.Statement | None]] | None:
    """The start, end and node of each directive of a text that has nothing else; None if the tree has to
    decide.
    """
    found: list[tuple[int, int, nodes.Statement | None]] = []
    start = 0
    for line in text.split("\n"):
        written = line.strip(" \t\r")
        if written and not written.startswith("//"):
            node = _directive(written) if written.isascii() and written.isprintable() else None
            if node is None:
                return None
            at = start + line.index(written)
            found.append((at, at + len(written), node))
        start += len(line) + 1
    return found


def _directive(text: str) -> nodes.Statement | None:
    """The directive that is all of a line."""
    word, _, rest = text.partition(" ")
    value = rest.strip()
    start = len(text) - len(value)
    if word == ".version":
        major, _, minor = value.partition(".")
        if major.isdigit() and minor.isdigit():
            return nodes.Version(0, len(text), nodes.Number(start, len(text), value, "float"))
    elif word == ".address_size":
        if value in ("64", "32"):
            return nodes.AddressSize(0, len(text), nodes.Number(start, len(text), value, "integer"))
    elif word == ".target":
        names: list[nodes.Name] = []
        for part in value.split(","):
            name = part.strip()
            if not name.isidentifier() or not name[0].isalpha():
                return None
            at = start + part.index(name)
            names.append(nodes.Name(at, at + len(name), sys.intern(name)))
            start += len(part) + 1
        return nodes.Target(0, len(text), tuple(names))
    return None
