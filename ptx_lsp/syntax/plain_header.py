"""Reads what most files have beside functions without a tree: `.version`, `.target`, `.address_size` and
variables, each on a line of its own, and debug information. To import what the tree needs takes longer than
to lint a small file.
"""

from __future__ import annotations

import sys

from ptx_lsp.syntax import nodes
from ptx_lsp.syntax.plain_declaration import plain_declaration
from ptx_lsp.syntax.plain_section import plain_file, plain_section


def plain_header(text: str) -> list[tuple[int, int, nodes.Statement | None]] | None:
    """The start, end and node of each statement of a text that has no others; None if the tree has to
    decide.
    """
    found: list[tuple[int, int, nodes.Statement | None]] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        line = text[start : end if end >= 0 else len(text)]
        written = line.strip(" \t\r")
        if not written or written.startswith("//"):
            start += len(line) + 1
            continue
        at = start + line.index(written)
        read = _statement(text, at, written)
        if read is None:
            return None
        start, node = read
        found.append((at, start, node))
    return found


def _statement(text: str, at: int, line: str) -> tuple[int, nodes.Statement] | None:
    """The end and the node of the statement at an offset, in the rest of a line."""
    if line.startswith(".section"):
        return plain_section(text, at)
    if line.startswith(".file"):
        return plain_file(text, at)
    if not line.isascii() or not line.isprintable():
        return None
    node = plain_declaration(line) if line.endswith(";") else _directive(line)
    return (at + len(line), node) if node is not None else None


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
