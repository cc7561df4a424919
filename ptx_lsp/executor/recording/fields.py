"""Fields of JSON objects that a stranger may have written: each is checked before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"
ADDRESSES = 1 << 64
_SEEDS = 1 << 4096
WordT = TypeVar("WordT", bound=str)


class RecordingError(Exception):
    """A file that is not a recording, is damaged, or has a newer version: the message that users see."""


class Fields:
    """An object; each question raises RecordingError if the field is missing or of the wrong type."""

    def __init__(self, given: object, name: str = "it") -> None:
        if not isinstance(given, Mapping):
            raise _damaged(name, "an object")
        self._given = cast("Mapping[str, object]", given)
        self._name = name

    @property
    def json(self) -> Json:
        """The whole object."""
        return cast(Json, self._given)

    def text(self, key: str) -> str:
        found = self._given.get(key)
        if not isinstance(found, str):
            raise _damaged(key, "a text")
        return found

    def optional_text(self, key: str) -> str | None:
        return None if self._given.get(key) is None else self.text(key)

    def word(self, key: str, words: Sequence[WordT]) -> WordT:
        """One of these words."""
        return _word(self._given.get(key), words, key)

    def words(self, key: str, words: Sequence[WordT]) -> tuple[WordT, ...]:
        """A list of them."""
        return tuple(_word(one, words, key) for one in self.values(key))

    def flag(self, key: str) -> bool:
        found = self._given.get(key)
        if not isinstance(found, bool):
            raise _damaged(key, "true or false")
        return found

    def optional_flag(self, key: str) -> bool | None:
        return None if self._given.get(key) is None else self.flag(key)

    def seed(self, key: str) -> int:
        """The number of an order of threads, which may be large."""
        return _number(self._given.get(key), key, _SEEDS)

    def number(self, key: str, end: int = ADDRESSES) -> int:
        """An integer from 0 to below `end`."""
        return _number(self._given.get(key), key, end)

    def optional_number(self, key: str) -> int | None:
        return None if self._given.get(key) is None else self.number(key)

    def numbers(self, key: str, counts: Sequence[int] = ()) -> tuple[int, ...]:
        """A list of such integers, of one of these lengths if there are any."""
        found = tuple(_number(one, key, ADDRESSES) for one in self.values(key))
        if counts and len(found) not in counts:
            raise _damaged(key, f"{' or '.join(map(str, counts))} numbers")
        return found

    def floats(self, key: str, count: int) -> tuple[float, ...]:
        """So many floats; infinities and NaN are texts."""
        found = self.values(key)
        try:
            if len(found) == count and all(isinstance(one, int | float | str) for one in found):
                return tuple(float(cast("float | str", one)) for one in found)
        except (ValueError, OverflowError):
            pass
        raise _damaged(key, f"{count} numbers")

    def values(self, key: str) -> Sequence[object]:
        """A list of any values."""
        found = self._given.get(key)
        if not isinstance(found, (list, tuple)):
            raise _damaged(key, "a list")
        return cast("Sequence[object]", found)

    def inner(self, key: str) -> Fields:
        return Fields(self._given.get(key), key)

    def optional_inner(self, key: str) -> Fields | None:
        return None if self._given.get(key) is None else self.inner(key)

    def each(self, key: str) -> Iterator[Fields]:
        """The objects of a list."""
        return (Fields(one, key) for one in self.values(key))


def _number(found: object, key: str, end: int) -> int:
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < end:
        raise _damaged(key, f"a number from 0 to {end - 1}")
    return found


def _word(found: object, words: Sequence[WordT], key: str) -> WordT:
    for word in words:
        if found == word:
            return word
    raise _damaged(key, f"one of {', '.join(words)}")


def _damaged(key: str, expected: str) -> RecordingError:
    return RecordingError(f"the recording is damaged: `{key}` must be {expected}")
