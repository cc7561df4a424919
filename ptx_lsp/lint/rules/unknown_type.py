"""The rule `unknown-type`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.isa.directives import DIRECTIVES
from ptx_lsp.isa.types import OPAQUE, TYPES
from ptx_lsp.lint.diagnostic import Finding, FixProposal, Replacement
from ptx_lsp.lint.fixes.similar_names import similar_name
from ptx_lsp.lint.rule import each_functions_directives, module_rule
from ptx_lsp.model.directives.declarations import Declared, declarations_of, declarations_outside
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import element_type
from ptx_lsp.syntax import nodes

_VECTORS = (".v2", ".v4")
_POINTED_SPACES = {".global", ".const", ".local", ".shared"}
_DECLARABLE = {name for name, type in TYPES.items() if type.declarable}
_SPACES = {row.name for row in DIRECTIVES.values() if row.kind == "state space" and row.is_accepted}


@module_rule("unknown-type", code="E110")
def unknown_type(module: Module) -> Iterator[Finding]:
    """A word in a declaration that is not a type, or is misplaced.

    ## What it does
    A declaration has, between the state space and the name, `.v2` or `.v4` for a vector, one type, and
    for a kernel parameter optionally `.ptr` with a state space. Reports the first other word, and
    formats such as `.bf16` that only instructions support.

    ## Why it matters
    ptxas reports a syntax error and stops.

    ## Example
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .bf16 %h;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.5
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b16 %h;
        ret;
    }
    ```

    ## Fix safety
    The fix replaces a format of instructions with the bit type of its registers. For a misspelt type it
    uses the most similar one, which is a guess and not applied by default.
    """
    for declared in declarations_outside(module):
        yield from _of(declared)
    yield from _in_functions(module)


@each_functions_directives
def _in_functions(function: Function) -> Iterator[Finding]:
    for declared in declarations_of(function):
        yield from _of(declared)


def _of(declared: Declared) -> Iterator[Finding]:
    words = declared.node.modifiers
    name = declared.node.type_name
    if name is not None:
        if not element_type(declared.node):  # else a comma is missing
            yield _closest(declared, name, "a type", {*_VECTORS, *_DECLARABLE})
        return
    rest = list(words)
    if rest and rest[0].text in _VECTORS:
        rest.pop(0)
    if not rest:
        return
    type = rest.pop(0)
    if type.text not in _DECLARABLE:
        if declared.of_prototype and type.text in TYPES:
            return  # ptxas asks less of what nothing is stored in
        if type.text not in (".v3", ".ptr"):  # the rules `legacy-syntax` and `invalid-declaration`
            yield _unknown(declared, type)
        return
    if rest and declared.is_parameter and rest[0].text == ".ptr":
        rest.pop(0)
        space = rest.pop(0) if rest else None
        if space is not None and space.text not in (*_POINTED_SPACES, *OPAQUE):
            yield _closest(declared, space, "a state space for `.ptr`", _POINTED_SPACES)
            return
    if rest:
        message = f"unexpected `{rest[0].text}` after `{type.text}`; expected a name"
        yield Finding(declared.place(rest[0]), message)


def _unknown(declared: Declared, word: nodes.Name) -> Finding:
    place = declared.place(word)
    known = TYPES.get(word.text)
    if known is not None:
        bits = f".b{known.width}"
        message = (
            f"`{word.text}` is a format of instructions, not a type that registers or "
            "variables can have"
        )
        if bits not in _DECLARABLE:
            return Finding(place, message)
        remedy = FixProposal(f"Write `{bits}`", (Replacement(place, bits),))
        return Finding(place, f"{message}; declare `{bits}`", fix=remedy)
    if word is declared.node.modifiers[0] and len(declared.node.modifiers) > 1:
        return _closest(declared, word, "a state space or type", {*_SPACES, *_VECTORS, *_DECLARABLE})
    return _closest(declared, word, "a type", {*_VECTORS, *_DECLARABLE})


def _closest(
    declared: Declared, word: nodes.Name, what: str, choices: set[str]
) -> Finding:
    place = declared.place(word)
    guess = similar_name(word.text.lower(), sorted(choices))
    message = f"`{word.text}` is not {what}"
    if guess is None:
        return Finding(place, message)
    remedy = FixProposal(f"Write `{guess}`", (Replacement(place, guess),), safe=False)
    return Finding(place, f"{message}; did you mean `{guess}`?", fix=remedy)
