"""JSON values in requests beyond LSP, and in long answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class JsonText(NamedTuple):
    """An answer as the text that is sent: converting it from pygls types would take longer than computing it.
    """

    text: str


def at(value: object, key: str) -> object:
    """The value of `key` in an object; None if it is not an object or lacks the key."""
    return cast(Mapping[str, object], value).get(key) if isinstance(value, Mapping) else None


def text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def number(value: object) -> int | None:
    """A whole number; JSON also writes it as `1.0`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value)


def texts(value: object, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The strings of a list; `otherwise` if it is not a list."""
    if not isinstance(value, (list, tuple)):
        return otherwise
    return tuple(one for one in cast(list[object], value) if isinstance(one, str))
