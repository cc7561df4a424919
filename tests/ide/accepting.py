"""Completion items as an editor accepts them, and what the linter then says of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ptx_lsp.ide.completion.completion import completion
from ptx_lsp.isa.matching.resolve import resolve
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module

_TARGETS = ("sm_103a", "sm_100a", "sm_120a", "sm_90a", "sm_90", "sm_80", "sm_70", "sm_60")
_VERSIONS = ("9.3", "8.0", "6.0")
_BEFORE = """.version {version}
.target {target}
.address_size 64
.global .u32 table[16];
.global .texref tex0, tex1;
.global .surfref surf0, surf1;
.const .f32 factor = 0f3F800000;
.extern .func (.param .b32 r) callee (.param .b32 a);
.visible .entry kernel(.param .u64 out, .param .u32 n)
{{
.reg .b8 %c<4>;
.reg .b16 %rs<9>;
.reg .b32 %r<9>;
.reg .b64 %rd<9>, %answer<2>;
.reg .b128 %rq<9>;
.reg .f16 %h<9>;
.reg .f32 %f<40>;
.reg .f64 %fd<9>;
.reg .u32 %u32_<9>;
.reg .s32 %s32_<9>;
.reg .u64 %u64_<9>;
.reg .b32 %b32_<9>;
.reg .b64 %b64_<9>;
.reg .f32 %f32_<9>;
.reg .pred %p<9>;
.shared .align 16 .b8 tile[1024];
.local .b32 own[4];
.param .b32 given;
L0:
"""
_AFTER = "\nL1:\nL2:\nret;\n}\n"
_TOKEN = re.compile(r"\.?[\w$%]+(?:::\w+)*|%[\w$]+")
_BRACKETED = re.compile(r"\[[^\]]*\]|\{[^}]*\}")
_SPELLING = re.compile(r"\w+(?:\.[\w:]+)*")
_RULES = tuple(rule for rule in all_rules() if rule.severity == "error")


class Place(NamedTuple):
    """A cursor in a statement: what is before it and what follows the token that was there."""

    before: str
    after: str
    token: str


class Accepted(NamedTuple):
    """A statement with an accepted item, which is at `start` to `end` in it."""

    text: str
    start: int
    end: int


def context_of(entry: Entry) -> str | None:
    """A file up to a statement, of a version and a target for which the example of a row has no error."""
    for version in _VERSIONS:
        for target in _TARGETS:
            before = _BEFORE.format(version=version, target=target)
            if not any(_errors(before, [entry.example])):
                return before
    return None


def places(statement: str) -> Iterator[Place]:
    """The cursors at the start and inside of each token, with and without the rest of the statement."""
    for match in _BRACKETED.finditer(statement):
        yield Place(statement[: match.start()], statement[match.end() :], match[0])
    for match in _TOKEN.finditer(statement):
        for typed in {0, 1}:
            before = statement[: match.start() + typed]
            yield Place(before, statement[match.end() :], match[0])
            yield Place(before, ";", match[0])


def accepted(context: str, place: Place) -> Iterator[Accepted]:
    """The statement after each item is accepted; of a snippet, with the first values of its places."""
    text = context + place.before
    found = completion(Module.parse(text + place.after + _AFTER), len(text))
    if found is None:
        return
    start = found.span.start - len(context)
    for one in found.suggestions:
        inserted = _filled(one.text) if one.is_snippet else one.text
        yield Accepted(place.before[:start] + inserted + place.after, start, start + len(inserted))


def new_errors(context: str, items: Iterable[Accepted]) -> Iterator[tuple[Accepted, Diagnostic]]:
    """The errors that are inside an accepted item, except those that something has yet to follow: modifiers,
    operands, a second destination.
    """
    every = list(items)
    for item, found in zip(every, _errors(context, [one.text for one in every]), strict=True):
        first = item.text.rfind(";", 0, item.start) + 1
        spelling = _SPELLING.search(item.text, first)
        is_in_opcode = spelling is not None and spelling.start() <= item.start < spelling.end()
        if spelling is not None and is_in_opcode and not resolve(spelling[0]).ok:
            continue
        for start, end, one in found:
            is_inside = item.start <= start and end <= item.end
            is_count = is_in_opcode and one.rule == "operand-count"
            is_of_several = one.rule == "mixed-cta-group"  # the items are in one kernel here
            is_complete = not is_count and "a second destination" not in one.message
            if is_inside and is_complete and not is_of_several:
                yield item, one


def _errors(context: str, statements: list[str]) -> list[list[tuple[int, int, Diagnostic]]]:
    """The errors of each statement, with offsets in it."""
    text, starts = context, list[int]()
    for one in statements:
        starts.append(len(text))
        text += f"{one}\n"
    module = Module.parse(text + _AFTER)
    found: list[list[tuple[int, int, Diagnostic]]] = [[] for _ in statements]
    at = 0
    for one in sorted(LintSession(module, _RULES).diagnostics, key=lambda one: one.span):
        while at + 1 < len(starts) and starts[at + 1] <= one.span.start:
            at += 1
        if starts and one.severity == "error" and one.span.start >= starts[at]:
            found[at].append((one.span.start - starts[at], one.span.end - starts[at], one))
    return found


def _filled(snippet: str) -> str:
    while (plain := re.sub(r"\$\{\d+:([^${}]*)\}", r"\1", snippet)) != snippet:
        snippet = plain
    return re.sub(r"\$\d", "", snippet).replace("\\$", "$").replace("\\}", "}")
