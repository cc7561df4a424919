"""The rule `not-ptx`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lazy_pattern import lazy_pattern
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.model.module import Module
from ptx_lsp.model.place import Place

_MARK = b"\xef\xbb\xbf"
_PART = lazy_pattern(
    r"(?s)//[^\n]*|/\*.*?(?:\*/|\Z)|\"[^\"]*\"|#[^\n]*|[^\x00-\x7f]+"
)
_LINE = lazy_pattern(r'#[\s\x1a]*(?:line)?[\s\x1a]*\d+[\s\x1a]+"[^"\n]*"(?:[\s\x1a]+\d+)*[\s\x1a]*(?://.*)?')
_WORD = lazy_pattern(r"#\s*\w*")
_NON_ASCII = lazy_pattern(r"[^\x00-\x7f]+")


@module_rule("not-ptx", code="E103")
def not_ptx(module: Module) -> Iterator[Finding]:
    """Characters or lines that are not PTX: `#define`, a byte order mark, letters such as `é`.

    ## What it does
    Reports preprocessor directives other than `# 5 "file"`, characters outside comments that are not
    ASCII, and NUL characters, which are not allowed anywhere, not even at the end of the file.

    ## Why it matters
    ptxas stops there. It does not run a preprocessor.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    #define SIZE 4
    .global .b32 table[4];
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .global .b32 table[4];
    ```

    ## Fix safety
    The fix removes NUL characters at the end of the file, where they are left over from C strings. The
    others have no fix: they may be meaningful.
    """
    data = module.document.source.data
    nul = data.find(b"\0")
    if nul >= 0:
        end = len(data) - len(data[nul:].lstrip(b"\0"))
        remedy = (
            FixProposal("Remove the NUL characters", (Replacement(Place(None, nul, end), ""),))
            if end == len(data)
            else None
        )
        yield Finding(
            Place(None, nul, end),
            "NUL characters are not allowed anywhere; ptxas stops at the first one",
            fix=remedy,
        )
    if b"#" not in data and module.document.source.is_ascii:
        return
    text = module.document.source.text
    for match in _PART.finditer(text):
        part, start = match[0], match.start()
        if part.startswith(("//", "/*")):
            continue
        if part.startswith("#"):
            if _LINE.fullmatch(part.rstrip()) is None:
                word = _WORD.match(part)
                end = start + len(word[0] if word else part)
                message = (
                    f"`{text[start:end].strip()}` is a preprocessor directive, which ptxas does "
                    'not support; only `# LINE "FILE"` is allowed'
                )
                yield Finding(Place(None, start, end), message)
            continue
        for found in _NON_ASCII.finditer(part):
            begin, end = start + found.start(), start + found.end()
            if data[begin:end].startswith(_MARK) and begin == 0:
                message = "the file begins with a byte order mark, which ptxas does not accept"
            else:
                shown = data[begin:end].decode("utf-8", "replace")
                message = f"`{shown}` is not ASCII; only comments can contain other characters"
            yield Finding(Place(None, begin, end), message)
