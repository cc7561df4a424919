"""Checks blocks of inline assembly for the targets that they are compiled for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Final, TypeAlias

from ptx_lsp.embedded.block import Block
from ptx_lsp.embedded.document import HostDocument
from ptx_lsp.embedded.virtual_module import VirtualModule, virtual_module
from ptx_lsp.isa.target import LATEST, TARGETS, Target, parse_target
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.configuration.selection import Rules
from ptx_lsp.lint.diagnostic import Diagnostic, Related
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.failures import report_failure
from ptx_lsp.lint.inline.foreign import is_foreign
from ptx_lsp.lint.inline.translation import in_host
from ptx_lsp.lint.rule import Rule
from ptx_lsp.model.module import Module
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source, Span

Verdict: TypeAlias = "tuple[Diagnostic, ...]"
"""The findings about a block, relative to its start."""

_Key: TypeAlias = "tuple[bytes, bytes, frozenset[str], bool, bool, bool, tuple[Target, ...], bool]"
_POSSIBLE: Final = ("sm_100a", "sm_90a", "sm_120a", "sm_103a", "sm_110a", "sm_80", "sm_70", "sm_50")
"""The targets tried for a block whose targets are unknown; together they have every instruction."""
_NOT_IN_BLOCKS: Final = frozenset(
    (
        "async-copy-not-waited", "bank-conflict", "block-too-large", "cluster-size", "divergent-aligned",
        "divergent-barrier", "generic-access", "load-before-call", "local-memory", "missing-uni", "false-uni",
        "setmaxnreg-ignored", "uncoalesced-access", "unused-function", "unused-parameter",
        "vectorisable-accesses", "wgmma-in-flight", "wgmma-not-waited", "wgmma-serialised",
    )
)  # fmt: skip
"""Rules that need the function around a block."""
_KEPT: Final = 4_096


class BlockLinter:
    """Checks the blocks of hosts. What it has found about a block is kept while its text is the same."""

    def __init__(
        self, rules: Rules, targets: Sequence[Target] = (), project: Sequence[Target] = ()
    ) -> None:
        """Each block must be right for all `targets`, and for one of those that the `project` is built for. A
        block that is not compiled for any of them must be right for any target at all.
        """
        self._rules = rules._replace(names=rules.names - _NOT_IN_BLOCKS)
        self._block_rules = tuple(rules.of_blocks())
        self._targets = tuple(targets)
        self._project = tuple(project)
        self._known: OrderedDict[_Key, Verdict] = OrderedDict()

    def diagnostics(self, document: HostDocument) -> list[Diagnostic]:
        """The findings about all blocks of a text, in its order."""
        return in_order(chain.from_iterable(self.verdicts(document)))

    def verdicts(self, document: HostDocument) -> Iterator[Verdict]:
        """The findings about one block after another."""
        for block in document.blocks:
            found = self.verdict(block, document.source.data[block.start : block.span.end])
            yield tuple(_moved(one, block.start) for one in found)

    def verdict(self, block: Block, written: bytes) -> Verdict:
        """The findings about a block, relative to its start. `written` is the construct in the host."""
        targets, is_each = self.targets(block)
        key = (
            written, block.text.data, block.outer_names, block.shares_braces, block.is_enclosed,
            block.is_ptx, targets, is_each,
        )  # fmt: skip
        found = self._known.get(key)
        if found is None:
            foreign = is_foreign(block)
            found = self._known[key] = () if foreign else self._judged(block, targets, is_each)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return found

    def targets(self, block: Block) -> tuple[tuple[Target, ...], bool]:
        """The targets for which a block is checked, and whether it must be right for each of them. Otherwise
        it must be for one. None if it is not compiled for a GPU.
        """
        if block.target is not None and (own := parse_target(block.target)) is not None:
            return (own,), True
        guard = block.guard
        certain = tuple(one for one in self._targets if guard is None or str(one) in guard.certain)
        if certain:
            return certain, True
        for candidates in (self._project, _possible() if guard is None else _all()):
            kept = [one for one in candidates if guard is None or str(one) in guard.possible]
            if kept:
                return _likely_first(kept, block), False
        return (), False

    def checked(self, block: Block) -> CheckedBlock:
        """The PTX of a block for the target that suits it best."""
        targets, is_each = self.targets(block)
        if not targets:
            targets = _possible()[:1]
        if is_each or len(targets) == 1:
            return check_block(block, targets[0])
        best: tuple[int, CheckedBlock] | None = None
        for target in targets:
            checked, found = self._of_target(block, target)
            if best is None or _errors(found) < best[0]:
                best = _errors(found), checked
            else:
                checked.module.dispose(checked.module)
            if not best[0] or _is_certain(found):
                break
        assert best is not None
        return best[1]

    def _judged(self, block: Block, targets: tuple[Target, ...], is_each: bool) -> Verdict:
        if is_each:
            verdicts = [self._verdict_for(block, target) for target in targets]
            return _merged(verdicts, targets)
        best: Verdict | None = None
        for target in targets:
            found = self._verdict_for(block, target)
            if best is None or _errors(found) < _errors(best):
                best = found
            if not _errors(best) or _is_certain(found):
                break
        return best or ()

    def _verdict_for(self, block: Block, target: Target) -> Verdict:
        checked, found = self._of_target(block, target)
        checked.module.dispose(checked.module)
        return found

    def _of_target(self, block: Block, target: Target) -> tuple[CheckedBlock, Verdict]:
        checked = check_block(block, target)
        linting = LintSession(checked.module, self._rules.awake(checked.module))
        found = list(self._rules.judged(in_host(checked, linting.once(True))))
        for rule in self._block_rules:
            found += self._rules.judged(_run(rule, checked))
        return checked, tuple(found)


_OF_EVERY_TARGET: Final = frozenset(
    (
        "duplicate-name", "missing-modifier", "operand-count", "syntax-error", "undeclared-name",
        "unknown-opcode", "unknown-operand", "wrong-modifier",
    )
)  # fmt: skip
"""Rules whose findings do not depend on the target."""


def _likely_first(targets: list[Target], block: Block) -> tuple[Target, ...]:
    """The targets, and first the one that the block needs: the others would be tried in vain."""
    for word, name in _SPECIFIC.items():
        if word in block.text.data:
            targets.sort(key=lambda one: str(one) != name)
            break
    return tuple(targets)


_SPECIFIC: Final = {b"wgmma": "sm_90a", b"tcgen05": "sm_100a", b"block_scale": "sm_120a"}
"""Words of instructions that only some targets have."""


@cache
def _possible() -> tuple[Target, ...]:
    return tuple(one for name in _POSSIBLE if (one := parse_target(name)) is not None)


@cache
def _all() -> tuple[Target, ...]:
    """All targets: those that suffice where nothing is known, and then the others, the newest first."""
    return tuple(dict.fromkeys((*_possible(), *sorted(TARGETS, reverse=True))))


def in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings in the order of the text."""
    return sorted(found, key=lambda one: (one.span, one.code, one.message))


def check_block(block: Block, target: Target) -> CheckedBlock:
    """The PTX of a block for a target."""
    virtual: VirtualModule = virtual_module(block, str(LATEST), str(target))
    return CheckedBlock(block, virtual, Module(Document.read(Source(virtual.data))))


def _run(rule: Rule, checked: CheckedBlock) -> list[Diagnostic]:
    """Runs a rule about blocks. If it fails, only its own findings are lost."""
    assert rule.on_block is not None
    try:
        return [_diagnostic(rule, one) for one in rule.on_block(checked)]
    except Exception as error:
        report_failure(__name__, f"rule {rule.name} failed and was skipped", error)
        return []


def _diagnostic(rule: Rule, found: BlockFinding) -> Diagnostic:
    severity = found.severity or rule.severity
    return Diagnostic(
        rule.name, rule.code, severity, found.message, found.span, found.related, found.fix, tag=rule.tag
    )


def _is_certain(found: Verdict) -> bool:
    """Whether no target can be right."""
    return any(one.rule in _OF_EVERY_TARGET for one in found)


def _errors(found: Verdict) -> int:
    return sum(one.severity == "error" for one in found)


def _merged(verdicts: list[Verdict], targets: tuple[Target, ...]) -> Verdict:
    """The findings for several targets. One that only some have names them."""
    having: dict[Diagnostic, list[str]] = {}
    for target, found in zip(targets, verdicts, strict=True):
        for one in dict.fromkeys(found):
            general = one._replace(message=one.message.replace(f"`{target}`", _TARGET))
            having.setdefault(general, []).append(str(target))
    return tuple(_naming(one, names, len(names) == len(targets)) for one, names in having.items())


_TARGET: Final = "`{target}`"


def _naming(found: Diagnostic, names: list[str], are_all: bool) -> Diagnostic:
    """A finding for the targets with these names, whose message has a place for them, or else says that only
    they have it.
    """
    message = found.message.replace(_TARGET, ", ".join(f"`{name}`" for name in names))
    if message == found.message and not are_all:
        message += f" ({', '.join(names)} only)"
    return found._replace(message=message)


def _moved(found: Diagnostic, by: int) -> Diagnostic:
    if found.fix is None and not found.related and not found.alternatives:
        return found._replace(span=Span(*found.span).shifted(by))

    def fix_moved(edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        return tuple(edit._replace(start=edit.start + by, end=edit.end + by) for edit in edits)

    return found._replace(
        span=Span(*found.span).shifted(by),
        related=tuple(Related(one.span.shifted(by), one.message) for one in found.related),
        fix=found.fix._replace(edits=fix_moved(found.fix.edits)) if found.fix is not None else None,
        alternatives=tuple(one._replace(edits=fix_moved(one.edits)) for one in found.alternatives),
    )
