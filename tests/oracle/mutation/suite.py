"""Sets of ways to damage PTX: each with its files, its kinds of damage and the record of ptxas's verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

from tests.oracle.mutation.tokens import PtxFile, Statement, Token

_T = TypeVar("_T")
_HERE = Path(__file__).parents[1]


class Change(NamedTuple):
    """Replaces the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        return text[: self.start] + self.text + text[self.end :]


Damage: TypeAlias = Callable[[PtxFile, Random], Change | None]


class Suite:
    """Kinds of damage and the accepted files that they are done to.

    `generates_code`: ptxas compiles the damaged files; else it only parses them, which is faster and
    tells nothing of the limits that code generation has. `agreeing`: the outcomes of a rejected file
    that count as agreement; see `mutations.py`.
    """

    def __init__(
        self, name: str, folder: Path, *, generates_code: bool, agreeing: tuple[str, ...]
    ) -> None:
        self.name = name
        self.folder = folder
        self.agreeing = agreeing
        self.generates_code = generates_code
        self.kinds: dict[str, Damage] = {}
        self.times: dict[str, int] = {}
        self.least: dict[str, float] = {}
        """The share of what ptxas rejects that must be found, for each kind."""

    @property
    def record(self) -> Path:
        return _HERE / "verdicts" / f"mutations_{self.name}.txt"

    @property
    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.ptx"))

    def kind(self, name: str, least: float = 0.99, times: int = 1) -> Callable[[Damage], Damage]:
        """Registers a function as the kind `name`; it may return None where the file gives no occasion.

        `times` as many changes are made as of other kinds: for what few files have.
        """

        def register(function: Damage) -> Damage:
            assert name not in self.kinds, name
            self.kinds[name] = function
            self.times[name] = times
            self.least[name] = least
            return function

        return register

    def changes(self, name: str, file: PtxFile, count: int, seed: int) -> list[Change]:
        """Up to `count` times those of the kind, all different; the same for the same seed."""
        random = Random(f"{seed} {name} {file.name}")
        found: dict[Change, None] = {}
        count *= self.times[name]
        for _ in range(3 * count):
            change = self.kinds[name](file, random)
            if change is not None and change.applied(file.text) != file.text:
                found[change] = None
            if len(found) == count:
                break
        return list(found)


COMPILED = Suite("compiled", _HERE / "corpus", generates_code=False, agreeing=("found",))
"""What people break in compilers' output; `damage.py`."""

MADE = Suite(
    "made",
    _HERE / "made" / "files",
    generates_code=True,
    agreeing=("found", "found later"),
)
"""What they break in declarations, heads, calls, sections and tokens; `made/`."""


# -- what kinds of damage share -----------------------------------------------------------------


def any_of(random: Random, choices: Sequence[_T]) -> _T | None:
    return random.choice(choices) if choices else None


def replaced(token: Token, text: str) -> Change:
    return Change(token.start, token.end, text)


def inserted(at: int, text: str) -> Change:
    return Change(at, at, text)


def source_of(file: PtxFile, statement: Statement) -> str:
    return file.text[statement.start : statement.end]


def misspelt(word: str, random: Random) -> str:
    """One letter doubled, dropped, exchanged, added or in the other case, as fingers do it."""
    index = random.randrange(len(word))
    match random.randrange(5):
        case 0:
            return word[:index] + word[index] + word[index:]
        case 1 if len(word) > 1:
            return word[:index] + word[index + 1 :]
        case 2 if index + 1 < len(word):
            return word[:index] + word[index + 1] + word[index] + word[index + 2 :]
        case 3:
            return word[:index] + word[index].swapcase() + word[index + 1 :]
        case _:
            return word + random.choice("xs09")
