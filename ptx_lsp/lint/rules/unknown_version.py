"""The rule `unknown-version`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.target import LATEST, OLDEST, VERSIONS, Version, parse_version
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.directives.header import header
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place
from ptx_lsp.syntax import nodes


@module_rule("unknown-version", code="E131")
def unknown_version(module: Module) -> Iterator[Finding]:
    """A `.version` that does not exist.

    ## What it does
    Reports a version number that is not a PTX version, from 1.0 to 9.5. There is no 1.6, 2.4, 3.3, 4.4,
    5.2, 6.6, 7.9 or 8.9. The number must be on the same line as `.version`.

    ## Why it matters
    ptxas stops there. A driver rejects modules whose version is newer than it supports.

    ## Example
    ```ptx
    .version 8.9
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.8
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        ret;
    }
    ```

    ## Fix safety
    There is no fix: the required version depends on what the file uses.
    """
    item = header(module).version
    if item is None or not isinstance(item.node, nodes.Version):
        return
    number = item.node.number
    if not isinstance(number, nodes.Number):
        return
    place = Place.of(item.node, number)
    between = module.document.source.text[item.start : item.start + number.start]
    if "\n" in between:
        yield Finding(place, "the version number must be on the same line as `.version`")
        return
    if "/" in between:
        yield Finding(place, "a comment is not allowed between `.version` and its number")
        return
    try:
        version = parse_version(number.text)
    except ValueError:
        yield Finding(place, f"`{number.text}` is not a version; write it as in `{LATEST}`")
        return
    if version in VERSIONS and int(number.text.partition(".")[2]) > 9:
        message = f"PTX ISA {number.text} does not exist; ptxas reads it as {version}"
        yield Finding(place, message, severity="warning")
    if version not in VERSIONS:
        yield Finding(place, f"PTX ISA {number.text} does not exist; {_nearest(version)}")


def _nearest(version: Version) -> str:
    if version > LATEST:
        return f"the newest version is {LATEST}"
    if version < OLDEST:
        return f"the oldest version is {OLDEST}"
    before = max(known for known in VERSIONS if known <= version)
    after = next((known for known in VERSIONS if known > version), LATEST)
    return f"the nearest versions are {before} and {after}"
