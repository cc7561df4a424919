"""Kinds of values in a configuration: how each is read, and its JSON schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ptx_lsp.isa.device_limits import MAX_THREADS_PER_BLOCK
from ptx_lsp.isa.target import TARGETS, parse_target
from ptx_lsp.lint.configuration.budget import Budget, BudgetError, parse
from ptx_lsp.lint.configuration.rule_index import rule_index
from ptx_lsp.lint.configuration.selection import EVERY, UnknownRuleError, did_you_mean, matching
from ptx_lsp.lint.diagnostic import SEVERITIES, Severity
from ptx_lsp.model.launch_blocks import LaunchBlock, launch_block
from ptx_lsp.named_tuple import NamedTuple
from ptx_lsp.static_typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from typing import TypeAlias

T = TypeVar("T")
Table: TypeAlias = Mapping[str, object]
Schema: TypeAlias = "str | int | bool | list[Schema] | dict[str, Schema]"


class WrongValueError(ValueError):
    """An invalid value of a key; the message begins with the key, in back-ticks."""


class Kind(NamedTuple, Generic[T]):
    """`read` takes a value and the key it belongs to, for the message of a WrongValueError."""

    read: Callable[[object, str], T]
    schema: dict[str, Schema]


def choice_of(words: tuple[str, ...]) -> Kind[str]:
    """One of several words."""

    def read(value: object, key: str) -> str:
        text = _text(value, key)
        if text not in words:
            near = did_you_mean(text, words)
            raise WrongValueError(f"`{key}` must be one of {_listed(words)}, not `{text}`{near}")
        return text

    return Kind(read, {"enum": [*words]})


def list_of(kind: Kind[T]) -> Kind[tuple[T, ...]]:
    """A list."""

    def read(value: object, key: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise WrongValueError(f"`{key}` must be a list, not {shown(value)}")
        items = enumerate(cast(list[object], value), 1)
        return tuple(kind.read(item, f"{key}[{index}]") for index, item in items)

    return Kind(read, {"type": "array", "items": kind.schema})


def table_of(kind: Kind[T], keys: Kind[str]) -> Kind[tuple[tuple[str, T], ...]]:
    """A table with user-defined keys: patterns, rules."""

    def read(value: object, key: str) -> tuple[tuple[str, T], ...]:
        return tuple(
            (keys.read(name, key), kind.read(item, f"{key}.{name}"))
            for name, item in table(value, key).items()
        )

    return Kind(read, {"type": "object", "additionalProperties": kind.schema})


def table(value: object, key: str) -> Table:
    """A table with any keys. Raises WrongValueError."""
    if not isinstance(value, Mapping):
        raise WrongValueError(f"`{key}` must be a table, not {shown(value)}")
    return cast(Table, value)


def only(given: Table, known: tuple[str, ...], inside: str = "") -> None:
    """Raises WrongValueError if a table has an unknown key."""
    for key in given:
        if key not in known:
            where = f" in `{inside}`" if inside else ""
            near = did_you_mean(key, known) or f"; expected {_listed(known)}"
            raise WrongValueError(f"unknown key `{key}`{where}{near}")


def shown(value: object) -> str:
    """The type of a value, in TOML terms."""
    match value:
        case bool():
            return f"`{str(value).lower()}`"
        case int() | float():
            return f"the number {value}"
        case str():
            return f'the text "{value}"'
        case list():
            return "a list"
        case Mapping():
            return "a table"
        case None:
            return "null"
        case _:
            return f"a {type(value).__name__}"


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise WrongValueError(f"`{key}` must be a string, not {shown(value)}")
    return value


def _flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise WrongValueError(f"`{key}` must be true or false, not {shown(value)}")
    return value


def _number_to(most: int, least: int = 1) -> Kind[int]:
    def read(value: object, key: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise WrongValueError(f"`{key}` must be a number from {least} to {most}, not {shown(value)}")
        return value

    return Kind(read, {"type": "integer", "minimum": least, "maximum": most})


def _block_size(value: object, key: str) -> LaunchBlock:
    is_valid = isinstance(value, int | str) and not isinstance(value, bool)
    size = launch_block(str(value)) if is_valid else None
    if size is None:
        raise WrongValueError(
            f"`{key}` must be a number from 1 to {MAX_THREADS_PER_BLOCK}, or sizes such as \"32x8\", "
            f"not {shown(value)}"
        )
    return size


def _pattern(value: object, key: str) -> str:
    text = _text(value, key)
    if not text:
        raise WrongValueError(f"`{key}`: a pattern cannot be empty")
    return text


def _path(value: object, key: str) -> str:
    text = _text(value, key)
    if not text or "\0" in text:
        raise WrongValueError(
            f"`{key}` must be a path, {'without NUL characters' if text else 'not empty'}"
        )
    return text


def _rule(value: object, key: str) -> str:
    text = _text(value, key)
    try:
        matching(rule_index(), text)
    except UnknownRuleError as error:
        raise WrongValueError(f"`{key}`: {error}") from error
    return text


def _target(value: object, key: str) -> str:
    text = _text(value, key)
    target = parse_target(text)
    if target is None or target not in TARGETS:
        near = did_you_mean(text, map(str, TARGETS))
        raise WrongValueError(f"`{key}`: unknown target `{text}`{near}")
    return str(target)


def _budget(value: object, key: str) -> Budget:
    try:
        return parse(_text(value, key))
    except BudgetError as error:
        raise WrongValueError(f"`{key}`: {error}") from error


def _severity(value: object, key: str) -> Severity:
    text = _text(value, key)
    for severity in SEVERITIES:
        if severity == text:
            return severity
    near = did_you_mean(text, SEVERITIES)
    raise WrongValueError(f"`{key}` must be one of {_listed(SEVERITIES)}, not `{text}`{near}")


def _listed(words: tuple[str, ...]) -> str:
    *most, last = (f"`{word}`" for word in words)
    return f"{', '.join(most)} and {last}" if most else last


def _host(value: object, key: str) -> str:
    from ptx_lsp.embedded.registry import host_names

    text = _text(value, key)
    names = (*host_names(), EVERY)
    if text not in names:
        near = did_you_mean(text, names) or f"; expected {_listed(names)}"
        raise WrongValueError(f"`{key}`: unknown host `{text}`{near}")
    return text


PATH = Kind(_path, {"type": "string", "minLength": 1})
FLAG = Kind(_flag, {"type": "boolean"})
THREADS: Kind[LaunchBlock] = Kind(
    _block_size,
    {
        "oneOf": [
            {"type": "integer", "minimum": 1, "maximum": MAX_THREADS_PER_BLOCK},
            {"type": "string", "pattern": "^[0-9]+([x,][0-9]+){0,2}$", "examples": ["32x8"]},
        ]
    },
)
REGISTERS = _number_to(255)
SHARED = _number_to(1 << 20, 0)
PATTERN = Kind(_pattern, {"type": "string", "minLength": 1})
RULE = Kind(_rule, {"type": "string", "minLength": 1})
HOST = Kind(_host, {"type": "string", "minLength": 1})
TARGET = Kind(_target, {"type": "string", "pattern": "^(sm|compute)_[0-9]+[af]?$"})
BUDGET = Kind(_budget, {"type": "string", "examples": ["registers <= 128", "occupancy >= 50 %"]})
SEVERITY = Kind(_severity, {"enum": [*SEVERITIES]})
