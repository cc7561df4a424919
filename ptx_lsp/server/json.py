"""JSON as it comes and goes in requests that are not of LSP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


def at(value: object, key: str) -> object:
    """What an object has under `key`; None where it is no object or has nothing there."""
    return cast(Mapping[str, object], value).get(key) if isinstance(value, Mapping) else None


def text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def number(value: object) -> int | None:
    """A whole number; JSON has `1.0` for it, too."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        return None
    return int(value)


def texts(value: object, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The strings of a list; `otherwise` where it is none."""
    if not isinstance(value, list | tuple):
        return otherwise
    return tuple(one for one in cast(list[object], value) if isinstance(one, str))
