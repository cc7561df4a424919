"""PTX versions and targets: what exists, since when, and what satisfies a requirement.

Sources: PTX ISA, ".target" and "Release Notes"; probed with ptxas 13.5 and 12.9, which also take
`.version 5.1`, `sm_21` and `sm_82`. A target is an architecture (`sm_90`), or one with a suffix:
`a` has the features of exactly that architecture, `f` those of its family.
"""

from __future__ import annotations

from functools import lru_cache

from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Final


class Version(NamedTuple):
    """A PTX ISA version, such as 8.3."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


def _versions() -> tuple[Version, ...]:
    minors = {1: 6, 2: 4, 3: 3, 4: 4, 5: 2, 6: 6, 7: 9, 8: 9, 9: 6}
    return tuple(
        Version(major, minor)
        for major, count in minors.items()
        for minor in range(count)
        if (major, minor) != (7, 9)
    )


VERSIONS: Final = _versions()
LATEST: Final = VERSIONS[-1]
OLDEST: Final = VERSIONS[0]


@lru_cache(maxsize=256)
def parse_version(text: str) -> Version:
    """Reads "8.3"; ValueError when it is not two numbers. ptxas counts in tenths: "7.10" is 8.0 to it."""
    major, _, minor = text.partition(".")
    if not (_is_number(major) and _is_number(minor)):
        raise ValueError(f"not a PTX version: {text!r}")
    return Version(*divmod(10 * int(major) + int(minor), 10))


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def effective(version: Version) -> Version:
    """The version whose features ptxas grants: its undocumented 5.1 acts as 6.0."""
    return Version(6, 0) if version == (5, 1) else version


class Target(NamedTuple):
    """An architecture number (90 for sm_90) and its suffix: "", "a" or "f"."""

    number: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"

    @property
    def family(self) -> int:
        """The family (10, 11, 12) whose members share `f` features; 0 below sm_100."""
        number = _RENAMED.get(self.number, self.number)
        return number // 10 if number >= 100 else 0

    @property
    def since(self) -> Version:
        """The first version that accepts this target; KeyError when it is unknown."""
        return TARGETS[self]


# sm_101 was renamed sm_110 in PTX 9.0; both names stay valid for ptxas.
_RENAMED: Final = {101: 110}

_SINCE: Final = """
    10 1.0  11 1.0  12 1.2  13 1.2  20 2.0  21 2.0  30 3.0  32 4.0  35 3.1  37 4.1
    50 4.0  52 4.1  53 4.2  60 5.0  61 5.0  62 5.0  70 5.1  72 6.1  75 6.3  80 7.0
    82 6.2  86 7.1  87 7.4  88 9.0  89 7.8  90 7.8  90a 8.0
    100 8.6  100a 8.6  100f 8.8  101 8.6  101a 8.6  101f 8.8  103 8.8  103a 8.8  103f 8.8
    107 9.4  107a 9.4  107f 9.4  110 9.0  110a 9.0  110f 9.0
    120 8.7  120a 8.7  120f 8.8  121 8.8  121a 8.8  121f 8.8
"""


@lru_cache(maxsize=256)
def parse_target(text: str) -> Target | None:
    """Reads "sm_90a" or its synonym "compute_90a"; None when it is not an architecture."""
    kind, _, name = text.partition("_")
    suffix = name[-1:] if name.endswith(("a", "f")) else ""
    number = name.removesuffix(suffix)
    return Target(int(number), suffix) if kind in ("sm", "compute") and _is_number(number) else None


def _targets() -> dict[Target, Version]:
    words = _SINCE.split()
    table: dict[Target, Version] = {}
    for name, version in zip(words[::2], words[1::2], strict=True):
        target = parse_target(f"sm_{name}")
        assert target is not None
        table[target] = parse_version(version)
    return table


TARGETS: Final = _targets()
"""Every target that ptxas takes, with the first version that takes it."""

OPTIONS: Final = {
    "texmode_unified": Version(1, 0),
    "texmode_independent": Version(1, 5),
    "debug": Version(3, 0),
    "map_f64_to_f32": Version(1, 0),
}
"""Other words allowed in a `.target` list, with the first version that takes it."""

EXCLUDES: Final = {
    "texmode_unified": "texmode_independent",
    "texmode_independent": "texmode_unified",
}
HAS_F64: Final = 13
"""The first architecture with `.f64`, which takes no `map_f64_to_f32`."""


def has(target: Target, feature: Target) -> bool:
    """Whether `target` offers what was introduced for `feature`.

    A plain feature is in every equal or higher architecture. One of `sm_100a` is there and nowhere
    else; one of `sm_100f` is in every suffixed target of that family from that number on.
    """
    if feature.suffix == "":
        return target.number >= feature.number
    if feature.suffix == "a":
        return target.suffix == "a" and _same(target.number, feature.number)
    return (
        target.suffix != ""
        and target.family == feature.family
        and _RENAMED.get(target.number, target.number)
        >= _RENAMED.get(feature.number, feature.number)
    )


def _same(one: int, other: int) -> bool:
    return _RENAMED.get(one, one) == _RENAMED.get(other, other)


class Requirement(NamedTuple):
    """One way to have a feature: from `version` on, on any of `targets` (empty: on all)."""

    version: Version
    targets: tuple[Target, ...]

    def __str__(self) -> str:
        """In words: `PTX ISA 8.0 and sm_90a or sm_100f`."""
        return " and ".join(
            part
            for part in (
                f"PTX ISA {self.version}" if self.version > OLDEST else "",
                " or ".join(describe(target) for target in self.targets),
            )
            if part
        )


def describe(target: Target) -> str:
    """A target as a requirement reads: `sm_90 or higher`, `sm_90a`, `sm_100f (its family)`."""
    match target.suffix:
        case "":
            return f"sm_{target.number} or higher"
        case "a":
            return str(target)
        case _:
            return f"{target} and its family"


@lru_cache(maxsize=1024)
def parse_requirement(version: str, targets: int | str) -> Requirement:
    """Reads a row's shorthand: ("8.0", 90) or ("8.6", "sm_100f sm_120a")."""
    if isinstance(targets, int):
        found = (Target(targets),) if targets > 10 else ()
        return Requirement(parse_version(version), found)
    parsed = tuple(parse_target(name) for name in targets.split())
    if not all(parsed):
        raise ValueError(f"not a list of targets: {targets!r}")
    return Requirement(parse_version(version), tuple(t for t in parsed if t is not None))


def satisfies(requirement: Requirement, version: Version, target: Target) -> bool:
    """Whether `.version version` and `.target target` meet the requirement."""
    if effective(version) < requirement.version:
        return False
    targets = requirement.targets
    return not targets or any(has(target, feature) for feature in targets)


def known_targets(version: Version = LATEST) -> tuple[Target, ...]:
    """The targets that exist at `version`, oldest first."""
    return tuple(target for target, since in TARGETS.items() if since <= version)
