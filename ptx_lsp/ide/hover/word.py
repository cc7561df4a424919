"""Hover text for words outside instructions: directives, types, state spaces, versions, targets, pragmas."""

from __future__ import annotations

from ptx_lsp.ide.cursor.markdown import code, fenced, listed, paragraphs
from ptx_lsp.ide.cursor.needs_met import met_in_words
from ptx_lsp.isa import directives, features, pragmas
from ptx_lsp.isa.device_limits import LIMITS
from ptx_lsp.isa.keywords import OPTION_SUMMARIES, Keyword, explanations
from ptx_lsp.isa.modifiers import lookup as modifiers
from ptx_lsp.isa.spaces import SPACES
from ptx_lsp.isa.target import OPTIONS, TARGETS, VERSIONS, Requirement, Version, parse_target
from ptx_lsp.isa.types import TYPES
from ptx_lsp.model.module import Module


def word_text(module: Module, word: str, *, in_body: bool = False) -> str | None:
    """The text for a word with its dot outside instructions; None if PTX has no such word."""
    directive = directives.find(word)
    if directive is not None and word not in TYPES:  # `.b8` and so on are both
        return directive_text(module, directive, in_body=in_body)
    if word in TYPES:
        type = TYPES[word]
        since = features.TYPES.get(word, Requirement(type.since, ()))
        return paragraphs([
            f"**{word}** (type): {type.summary}", listed(filter(None, [met_in_words(module, (since,))]))
        ])
    if word in SPACES:
        return f"**{word}** (state space): {SPACES[word].summary}"
    if word in features.ATTRIBUTES:
        needs = met_in_words(module, (features.ATTRIBUTES[word],))
        return paragraphs([f"**{word}** (attribute)", listed([needs])])
    if word in (".v2", ".v4", ".v8"):
        return f"**{word}**: a vector of {word[2:]} elements"
    if words := explanations(word):
        return paragraphs(explained(word, words[0]))
    found = modifiers.meanings(word)
    return listed(f"{code(one.name)} {one.summary}" for one in found[:4]) or None


def explained(name: str, word: Keyword) -> list[str]:
    """The text for a punctuation mark, or for a word that is in no table of instructions or directives."""
    return [f"**{name}** ({word.kind}): {word.summary}", *([fenced(word.example)] if word.example else [])]


def directive_text(module: Module, directive: directives.Directive, *, in_body: bool = False) -> str:
    """The text for a directive, in a body or elsewhere."""
    since = directive.since_in_body if in_body and directive.since_in_body else directive.since
    ends: list[str] = []
    if directive.deprecated is not None:
        instead = f": use {code(directive.successor)}" if directive.successor else ""
        ends.append(f"deprecated since PTX ISA {directive.deprecated}{instead}")
    if directive.removed is not None:
        ends.append(f"removed in PTX ISA {directive.removed}")
    if not directive.is_accepted:
        ends.append("not supported by current versions of ptxas")
    space = SPACES.get(directive.name)
    facts = [f"access: {space.access}", f"lifetime: {space.lifetime}"] if space is not None else []
    return paragraphs([
        f"**{directive.name}** ({directive.kind}): {directive.summary}",
        fenced(directive.syntax),
        listed([
            *facts,
            f"where: {', '.join(sorted(directive.places))}",
            *filter(None, [met_in_words(module, (since,))]),
            *ends,
        ]),
    ])


def version_text(module: Module, version: Version) -> str:
    """The text for the number of a `.version`."""
    if version not in VERSIONS:
        return (
            f"PTX ISA {version} does not exist; versions range from {VERSIONS[0]} to "
            f"{VERSIONS[-1]}."
        )
    fresh = [str(target) for target, since in TARGETS.items() if since == version]
    lines = [f"added the targets {', '.join(fresh)}"] if fresh else []
    target = module.target
    if target is not None and TARGETS.get(target, version) > version:
        lines.append(f"{target} requires PTX ISA {TARGETS[target]} ✗")
    return paragraphs([f"PTX ISA {version}", listed(lines)])


def target_text(module: Module, name: str) -> str | None:
    """The text for a word of a `.target`: an architecture with the limits of its SMs, or an option."""
    target = parse_target(name)
    if target is None or target not in TARGETS:
        since = OPTIONS.get(name)
        needs = Requirement(since, ()) if since is not None else None
        if needs is None:
            return None
        summary = f"**{name}** (option of `.target`): {OPTION_SUMMARIES[name]}"
        return paragraphs([summary, listed(filter(None, [met_in_words(module, (needs,))]))])
    lines = [met_in_words(module, (Requirement(TARGETS[target], ()),))]
    if target.suffix == "a":
        lines.append("code for exactly this architecture, with its architecture-specific features")
    elif target.suffix == "f":
        lines.append("code for this family of architectures, with its family-specific features")
    limits = LIMITS.get(target.number)
    if limits is not None:
        lines += [
            f"an SM holds {limits.threads_per_sm} threads ({limits.warps_per_sm} warps) in at most "
            f"{limits.blocks_per_sm} blocks",
            (
                f"registers: {limits.registers_per_sm} per SM, {limits.registers_per_block} per "
                "block"
            ),
            f"shared memory: {limits.shared_bytes_per_sm // 1024} KiB per SM, "
            f"{limits.shared_bytes_opt_in // 1024} KiB per block",
        ]
    return paragraphs([f"**{target}** (target)", listed(filter(None, lines))])


def pragma_text(module: Module, string: str) -> str | None:
    """The text for the string of a `.pragma`."""
    row = pragmas.PRAGMAS.get(pragmas.split(string.strip('"'))[0])
    if row is None:
        return None
    needs = filter(None, [met_in_words(module, (row.since,))])
    return paragraphs([f"**{row.name}** (pragma): {row.summary}", listed(needs)])
