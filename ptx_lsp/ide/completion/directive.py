"""Directives by the place where they are allowed, and the tokens that may follow each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptx_lsp.ide.completion.operand import function_names, labels
from ptx_lsp.ide.completion.suggestion import Suggestion, plain
from ptx_lsp.ide.completion.value import initial_values
from ptx_lsp.ide.cursor.cursor_context import item_at
from ptx_lsp.ide.cursor.partial_statement import PartialStatement
from ptx_lsp.isa import directives, features, pragmas
from ptx_lsp.isa.directives import LANGUAGES, SECTIONS, Directive, Where
from ptx_lsp.isa.target import (
    EXCLUDES,
    HAS_F64,
    OPTIONS,
    TARGETS,
    VERSIONS,
    Requirement,
    parse_target,
    satisfies,
)
from ptx_lsp.isa.types import TYPES, Kind
from ptx_lsp.model.module import Module
from ptx_lsp.syntax import nodes

_UNSUPPORTED = 100
_SPACES = frozenset(name for name, row in directives.DIRECTIVES.items() if row.kind == "state space")
_LINKAGE = frozenset(name for name, row in directives.DIRECTIVES.items() if row.kind == "linkage")

_SNIPPETS = {
    ".entry": ".entry ${1:kernel}(${2:.param .u64 ${3:pointer}})\n{\n\t$0\n\tret;\n}",
    ".func": ".func ${1:function}($2)\n{\n\t$0\n\tret;\n}",
    ".maxntid": ".maxntid ${1:256}",
    ".reqntid": ".reqntid ${1:256}",
    ".pragma": '.pragma "${1:nounroll}";',
    ".version": f".version {VERSIONS[-1]}",
    ".address_size": ".address_size 64",
}
_DECLARATIONS = {
    ".entry": ".entry ${1:kernel}(${2:.param .u64 ${3:pointer}});",
    ".func": ".func ${1:function}($2);",
}
"""Contexts in which no body may follow: after `.extern`, and in a body."""

_COMMON = (".reg", ".shared", ".local", ".pragma", ".loc", ".param")
"""The most common directives in bodies."""
_LABELLED = frozenset((".callprototype", ".calltargets", ".branchtargets"))
"""Directives that require a label."""
_RARE = frozenset((".target", ".func", ".alias"))


def statement_directives(typing: PartialStatement) -> list[Suggestion]:
    """Directives at the beginning of a statement: of a body, a section, or the file, which has one header."""
    if typing.function is not None:
        rows = (row for row in _at("body") if row.name not in _LABELLED or typing.is_labelled)
        found = [_directive(typing, row, is_declared=True) for row in rows]
        found = [one._replace(text=f".extern {one.text}") if one.label == ".func" else one for one in found]
        return [one._replace(rank=one.rank + _rank_in_body(one.label)) for one in found]
    item = item_at(typing.module, typing.span.start)
    if item is not None and isinstance(item.node, nodes.Section) and typing.span.start < item.end:
        return [_directive(typing, row) for row in _at("section")]
    there = set(_header(typing.module))
    return [_directive(typing, row) for row in _at("module") if row.name not in there]


def _rank_in_body(name: str) -> int:
    if name in _COMMON:
        return _COMMON.index(name)
    return len(_COMMON) + (name in _RARE)


def header_directives(typing: PartialStatement) -> list[Suggestion]:
    """The directives between the parameters and the body of a function."""
    is_kernel = ".entry" in typing.words
    places: tuple[Where, ...] = ("kernel",) if is_kernel else ("function", "function prototype")
    rows = {row.name: row for place in places for row in _at(place)}
    return [_directive(typing, row) for row in rows.values()]


def after_directive(typing: PartialStatement) -> list[Suggestion]:
    """The tokens that may follow in a statement begun by a directive."""
    words = typing.words
    if words[-1] in (".pragma", ".language") or (words[-1] == "," and words[-2].startswith('"')):
        return [
            one._replace(label=f'"{one.label}"', text=f'"{one.text}"') for one in strings(typing)
        ]
    match words[0]:
        case ".version":
            return _versions(typing.module)
        case ".target":
            return _options(typing) if "," in words else _targets(typing.module)
        case ".section":
            return [plain(name, "name", "debugging data") for name in SECTIONS if len(words) == 1]
        case ".address_size":
            return [plain("64", "constant"), plain("32", "constant", rank=1)]
        case ".branchtargets":
            return list(labels(typing.function, typing.span.start)) if typing.function else []
        case ".calltargets" | ".alias":
            return function_names(typing)
        case first if first in _LINKAGE | {".entry", ".func"}:
            return _in_header(typing)
        case first if first in _SPACES:
            return _in_declaration(typing, words)
        case ".callprototype":
            return _parameter(typing) if _is_open(words) else []
        case ".attribute":
            return _attributes(typing.module)
        case _:
            return []


def strings(typing: PartialStatement) -> list[Suggestion]:
    """The strings allowed between the quotes."""
    if ".pragma" in typing.words:
        return [
            Suggestion(
                row.name, "pragma", row.name, row.summary, 0 if met else _UNSUPPORTED, is_supported=met,
                key=f"pragma {row.name}",
            )
            for row in pragmas.PRAGMAS.values()
            for met in (_is_met(typing.module, row.since),)
        ]
    if ".language" in typing.words:
        return [plain(name, "constant") for name in LANGUAGES]
    return []


def _header(module: Module) -> Iterator[str]:
    for item in module.document.items:
        match item.node:
            case nodes.Version():
                yield ".version"
            case nodes.Target():
                yield ".target"
            case nodes.AddressSize():
                yield ".address_size"
            case _:
                pass


def _at(place: Where) -> Iterator[Directive]:
    for row in directives.DIRECTIVES.values():
        has_ended = row.removed is not None or not row.is_accepted or place in dict(row.ended)
        if place in row.places and not has_ended:
            yield row


def _directive(typing: PartialStatement, row: Directive, is_declared: bool = False) -> Suggestion:
    """A directive with its requirements, unless they already follow the cursor."""
    is_met = _is_met(typing.module, row.since)
    text = _SNIPPETS.get(row.name, row.name)
    if is_declared:
        text = _DECLARATIONS.get(row.name, text)
    if re.match(r'[\w$%"(]', typing.next_token):
        text = row.name
    return Suggestion(
        row.name, "directive", text, row.summary, 0 if is_met else _UNSUPPORTED,
        is_snippet="$" in text, is_supported=is_met, is_deprecated=row.deprecated is not None,
        key=f"word {row.name}",
    )


def _is_met(module: Module, since: Requirement) -> bool:
    version, target = module.version, module.target
    return version is None or target is None or satisfies(since, version, target)


def _versions(module: Module) -> list[Suggestion]:
    """The versions, newest first; versions too old for the file's target come last."""
    least = TARGETS.get(module.target, VERSIONS[0]) if module.target is not None else VERSIONS[0]
    return [
        Suggestion(
            str(version), "version", str(version), f"PTX ISA {version}",
            rank if version >= least else rank + _UNSUPPORTED, is_supported=version >= least,
        )
        for rank, version in enumerate(reversed(VERSIONS))
    ]


def _targets(module: Module) -> list[Suggestion]:
    """The targets, newest first; targets that the file's version does not support come last."""
    version = module.version
    found: list[Suggestion] = []
    for rank, (target, since) in enumerate(reversed(TARGETS.items())):
        known = version is None or since <= version
        found.append(
            Suggestion(
                str(target),
                "target",
                str(target),
                f"requires PTX ISA {since}",
                rank + (0 if known else _UNSUPPORTED),
                is_supported=known,
                key=f"target {target}",
            )
        )
    return found


def _options(typing: PartialStatement) -> list[Suggestion]:
    """The options that may still follow an architecture; unsupported ones come last."""
    words, version = typing.words, typing.module.version
    target = parse_target(words[1])
    found: list[Suggestion] = []
    for name, since in OPTIONS.items():
        if name in words or EXCLUDES.get(name) in words:
            continue
        is_met = version is None or since <= version
        if name == "map_f64_to_f32" and target is not None and target.number >= HAS_F64:
            is_met = False
        found.append(Suggestion(
            name, "target", name, "option", 0 if is_met else _UNSUPPORTED, is_supported=is_met
        ))
    return found


def _in_header(typing: PartialStatement) -> list[Suggestion]:
    """After `.visible`, what it can apply to; in parentheses, parameters; after them, directives."""
    words = typing.words
    if ".entry" not in words and ".func" not in words:
        spaces = [word for word in words if word in _SPACES]
        if spaces:
            return _in_declaration(typing, words)
        is_common = ".common" in words  # variables in `.global` only
        names = (".global",) if is_common else (".entry", ".func", ".global", ".const", ".shared")
        rows = (directives.DIRECTIVES[name] for name in names)
        return [_directive(typing, row, is_declared=".extern" in words) for row in rows]
    if _is_open(words):
        return _parameter(typing)
    if words[-1] == ")" or words[-1][:1].isalnum() or typing.word.startswith("."):
        return header_directives(typing)
    return []


def _is_open(words: tuple[str, ...]) -> bool:
    """Whether a parameter list is open."""
    return words.count("(") > words.count(")")


def _parameter(typing: PartialStatement) -> list[Suggestion]:
    """In a parameter list, from its last comma or parenthesis on."""
    words = typing.words
    start = max(at for at, word in enumerate(words) if word in "(,") + 1
    rest = words[start:]
    if not rest:
        spaces = (".param",) if ".entry" in words else (".param", ".reg")
        return [_directive(typing, directives.DIRECTIVES[name]) for name in spaces]
    return _in_declaration(typing, rest, is_parameter=True)


def _in_declaration(
    typing: PartialStatement, words: tuple[str, ...], is_parameter: bool = False
) -> list[Suggestion]:
    """Types, vectors and `.align` after a state space, until there is a type and a name; then values."""
    if "=" in words:
        return initial_values(typing)
    if words[-1] == ".align":
        return [plain(str(1 << power), "constant", "bytes", power) for power in range(8)]
    if any(word in TYPES for word in words):
        names = _behind_type(typing, words) if is_parameter else ()
        return [_directive(typing, directives.DIRECTIVES[name]) for name in names]
    found = [one for one in _types(typing.module, words) if is_parameter or _may_be(one.label, typing, words)]
    if words[0] != ".reg":
        found.append(_directive(typing, directives.DIRECTIVES[".align"]))
    return found


def _may_be(name: str, typing: PartialStatement, words: tuple[str, ...]) -> bool:
    """Whether a declaration may have a type: handles are global, and declared outside functions."""
    is_handle = name in TYPES and TYPES[name].kind is Kind.HANDLE
    return not is_handle or (typing.function is None and ".global" in words)


def _behind_type(typing: PartialStatement, words: tuple[str, ...]) -> tuple[str, ...]:
    """After the type of a kernel parameter: `.align`, or `.ptr` with a state space and then `.align`."""
    if ".entry" not in typing.words or not typing.word or not words[-1].startswith("."):
        return ()
    if ".ptr" not in words:
        return (".align", ".ptr")
    spaces = (".global", ".shared", ".const", ".local")
    return (".align", *spaces) if words[-1] == ".ptr" else (".align",)


def _types(module: Module, words: tuple[str, ...]) -> list[Suggestion]:
    found: list[Suggestion] = []
    for rank, type in enumerate(TYPES.values()):
        if not type.declarable or (type.name == ".pred" and ".reg" not in words):
            continue
        since = features.TYPES.get(type.name, Requirement(type.since, ()))
        met = _is_met(module, since)
        found.append(Suggestion(
            type.name, "type", type.name, type.summary, rank + (0 if met else _UNSUPPORTED),
            is_supported=met, key=f"word {type.name}",
        ))
    if not any(word in (".v2", ".v4") for word in words):
        found += [plain(one, "type", f"a vector of {one[2:]}", 60) for one in (".v2", ".v4")]
    return found


def _attributes(module: Module) -> list[Suggestion]:
    return [
        plain(name, "name", "attribute", 0 if _is_met(module, since) else _UNSUPPORTED)
        for name, since in features.ATTRIBUTES.items()
    ]
