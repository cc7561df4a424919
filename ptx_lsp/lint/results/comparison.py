"""Compares two states of the same kernels.

1. A kernel is matched with the kernel of the same name. If there are several, those for the same target
   come first, and then those of the same path; of the members of a container, those with the same
   instructions. The number of a member says nothing: it changes when a kernel is added.
2. The remaining kernels are matched by similarity of instruction counts (the cosine of the angle between
   them) and of names. The most similar pair comes first, down to a similarity of 0.7.
3. A metric is worse if it costs more: more registers, memory or spills, less occupancy, more findings.
4. Measured figures are compared if both kernels have them, else the estimates: one of each says nothing
   about the change. A measurement of one of them is a figure of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from math import sqrt
from typing import Literal, TypeAlias

from ptx_lsp.lint.results.kernels import without_measured
from ptx_lsp.lint.results.report import FileReport, Kernel, Reported
from ptx_lsp.named_tuple import NamedTuple

_LEAST_LIKENESS = 0.7
_ONE_SIDED = "measured registers"
"""The figure that one of the kernels has no measurement for."""
_MOST_PAIRS = 100_000
"""The maximum number of unmatched pairs; beyond it, only names count."""


class Subject(NamedTuple):
    """A kernel with its file and findings."""

    path: str
    kernel: Kernel
    findings: tuple[Reported, ...]
    container: str | None = None
    """The file that holds it, if it is in a member of a container."""


Interval: TypeAlias = tuple[int, int]


class Change(NamedTuple):
    """One metric before and after. `says` is its kind: measured, estimated or exact. Estimated registers have
    intervals.
    """

    name: str
    unit: str
    old: float | None
    new: float | None
    says: str
    worse_when: Literal["more", "less", ""]
    intervals: tuple[Interval | None, Interval | None] = (None, None)

    @property
    def is_worse(self) -> bool:
        if self.old is None or self.new is None or self.old == self.new or not self.worse_when:
            return False
        return (self.new > self.old) == (self.worse_when == "more")

    @property
    def is_better(self) -> bool:
        known = self.old is not None and self.new is not None and self.old != self.new
        return known and bool(self.worse_when) and not self.is_worse


class Pair(NamedTuple):
    """A kernel in both states. `likeness` is 1 if the names are equal."""

    old: Subject
    new: Subject
    likeness: float
    figures: tuple[Change, ...]
    instructions: tuple[tuple[str, int], ...]
    """The difference in the count of each spelling, the largest first."""
    findings: tuple[tuple[str, int], ...]
    """The difference in findings, by rule."""

    @property
    def is_same(self) -> bool:
        changed = any(one.old != one.new and one.name != _ONE_SIDED for one in self.figures)
        return not (changed or self.instructions or self.findings or self.likeness < 1)

    @property
    def is_worse(self) -> bool:
        return any(one.is_worse for one in self.figures) or any(n > 0 for _, n in self.findings)


class Comparison(NamedTuple):
    """The whole comparison: pairs in the order of the new state, and unmatched kernels."""

    pairs: tuple[Pair, ...]
    gone: tuple[Subject, ...]
    added: tuple[Subject, ...]


def compare(old: Sequence[FileReport], new: Sequence[FileReport]) -> Comparison:
    """Matches the kernels of two runs."""
    before, after = list(subjects(old)), list(subjects(new))
    partners = _by_name(before, after)
    taken = set(partners.values())
    left = [index for index in range(len(before)) if index not in taken]
    free = [index for index in range(len(after)) if index not in partners]
    likeness = dict.fromkeys(partners, 1.0)
    for alike, one, other in _by_likeness(before, after, left, free):
        partners[other], likeness[other] = one, alike
    pairs = [
        _pair(before[partners[index]], after[index], likeness[index])
        for index in range(len(after))
        if index in partners
    ]
    used = set(partners.values())
    gone = [one for index, one in enumerate(before) if index not in used]
    added = [one for index, one in enumerate(after) if index not in partners]
    return Comparison(tuple(pairs), tuple(gone), tuple(added))


def compare_kernels(old: Subject, new: Subject) -> Comparison:
    """Compares two kernels, however different."""
    alike = 1.0 if old.kernel.name == new.kernel.name else likeness(old.kernel, new.kernel)
    return Comparison((_pair(old, new, alike),), (), ())


def subjects(files: Iterable[FileReport]) -> Iterator[Subject]:
    """The kernels of some files, each with its findings."""
    for file in files:
        for kernel in file.kernels:
            findings = tuple(one for one in file.diagnostics if one.function == kernel.name)
            yield Subject(file.path, kernel, findings, file.container)


def _by_name(before: list[Subject], after: list[Subject]) -> dict[int, int]:
    """For each index of the new state, the index of the old one."""
    places: dict[str, list[int]] = {}
    for index, one in enumerate(before):
        places.setdefault(one.kernel.name, []).append(index)
    partners: dict[int, int] = {}
    for only_same_target in (True, False):  # a kernel for one more target takes no partner away
        for index, one in enumerate(after):
            rest = places.get(one.kernel.name, []) if index not in partners else []
            found = [i for i in rest if before[i].kernel.target == one.kernel.target or not only_same_target]
            if found:
                best = max(found, key=lambda i: _nearness(before[i], one))
                rest.remove(best)
                partners[index] = best
    return partners


def _nearness(old: Subject, new: Subject) -> tuple[int, bool, bool]:
    return (
        _same_end(old.container or old.path, new.container or new.path),
        old.container is not None and old.kernel.instructions == new.kernel.instructions,
        old.container is not None and _member(old) == _member(new),
    )


def _member(one: Subject) -> str:
    return one.path.removeprefix(one.container or "")


@lru_cache(maxsize=256)
def _same_end(one: str, other: str) -> int:
    """The number of equal trailing parts of two paths."""
    count = 0
    for a, b in zip(reversed(one.split("/")), reversed(other.split("/")), strict=False):
        if a != b:
            break
        count += 1
    return count


def _by_likeness(
    before: list[Subject], after: list[Subject], left: list[int], free: list[int]
) -> Iterator[tuple[float, int, int]]:
    if len(left) * len(free) > _MOST_PAIRS:
        return
    rated: list[tuple[float, int, int]] = []
    for one in left:
        for other in free:
            alike = likeness(before[one].kernel, after[other].kernel)
            if alike >= _LEAST_LIKENESS:
                rated.append((alike, one, other))
    taken_old, taken_new = set[int](), set[int]()
    for alike, one, other in sorted(rated, key=lambda row: (-row[0], row[1], row[2])):
        if one not in taken_old and other not in taken_new:
            taken_old.add(one)
            taken_new.add(other)
            yield alike, one, other


def likeness(one: Kernel, other: Kernel) -> float:
    """A similarity from 0 to 1: three parts instructions, one part name."""
    first, second = dict(one.instructions), dict(other.instructions)
    product = sum(count * second.get(name, 0) for name, count in first.items())
    lengths = sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))
    alike = product / lengths if lengths else float(not first and not second)
    if alike * 3 + 1 < _LEAST_LIKENESS * 4:
        return 0.0
    return (3 * alike + SequenceMatcher(None, one.name, other.name, False).ratio()) / 4


def _pair(old: Subject, new: Subject, alike: float) -> Pair:
    return Pair(
        old, new, alike,
        tuple(one for one in _figures(old.kernel, new.kernel) if (one.old, one.new) != (None, None)),
        _differences(dict(old.kernel.instructions), dict(new.kernel.instructions)),
        _differences(
            Counter(one.rule for one in old.findings), Counter(one.rule for one in new.findings)
        ),
    )


def _figures(old: Kernel, new: Kernel) -> Iterator[Change]:
    known = (old.registers.measured, new.registers.measured)
    if None in known:
        old, new = without_measured(old), without_measured(new)
        yield Change(
            "registers", "", old.registers.estimate, new.registers.estimate, "estimated", "more",
            (old.registers.interval, new.registers.interval),
        )
        yield Change(_ONE_SIDED, "", *known, "measured", "more")
    else:
        yield Change("registers", "", *known, "measured", "more")
    rests = {old.occupancy.registers_source, new.occupancy.registers_source}
    about = "measured" if rests == {"measured"} else "estimated"
    yield Change("occupancy", "%", old.occupancy.percent, new.occupancy.percent, about, "less")
    yield Change("shared", "B", old.shared_bytes, new.shared_bytes, "exact", "more")
    yield Change("local", "B", old.local_bytes, new.local_bytes, "exact", "more")
    if old.measured is not None and new.measured is not None:
        yield Change("spills", "B", _spills(old), _spills(new), "measured", "more")
        stacks = (old.measured.stack_bytes, new.measured.stack_bytes)
        yield Change("stack", "B", *stacks, "measured", "more")
    threads = (old.threads_per_block, new.threads_per_block)
    yield Change("threads", "", *threads, "exact", "")
    counts = [sum(count for _, count in one.instructions) for one in (old, new)]
    yield Change("instructions", "", counts[0], counts[1], "exact", "")
    branches = (old.branches.divergent, new.branches.divergent)
    yield Change("divergent branches", "", *branches, "exact", "more")


def _spills(kernel: Kernel) -> int | None:
    known = kernel.measured
    if known is None or known.spill_store_bytes is None or known.spill_load_bytes is None:
        return None
    return known.spill_store_bytes + known.spill_load_bytes


def _differences(old: dict[str, int], new: dict[str, int]) -> tuple[tuple[str, int], ...]:
    found = {name: new.get(name, 0) - old.get(name, 0) for name in {**old, **new}}
    changed = [(name, n) for name, n in found.items() if n]
    return tuple(sorted(changed, key=lambda row: (-abs(row[1]), row[0])))
