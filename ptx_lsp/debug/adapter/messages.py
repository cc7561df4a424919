"""Messages of the debug adapter protocol: their framing, and what is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TypeAlias, cast

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = "dict[str, Json]"

_MOST_BYTES = 1 << 26
_MOST_HEADER_BYTES = 1 << 16
_MOST_NUMBER = 1 << 63
_HEADERS = (b"content-length", b"content-type")
_LENGTH = re.compile(rb"\d{1,18}")


class ProtocolError(Exception):
    """Bytes that are not a message: where the next one begins is unknown."""


class MessageError(Exception):
    """A message without the contents of one. The next one can be read."""


class Arguments:
    """The arguments of a request. Those of the wrong type count as missing, and so does null."""

    def __init__(self, given: object) -> None:
        self._given: Mapping[str, object] = {}
        if isinstance(given, Mapping):
            pairs = cast("Mapping[str, object]", given).items()
            self._given = {key: value for key, value in pairs if value is not None}

    def text(self, key: str, otherwise: str = "") -> str:
        found = self._given.get(key)
        return found if isinstance(found, str) else otherwise

    def number(self, key: str, otherwise: int = 0) -> int:
        found = self._given.get(key)
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if isinstance(found, bool) or not isinstance(found, int) or abs(found) >= _MOST_NUMBER:
            return otherwise
        return found

    def flag(self, key: str) -> bool:
        return self._given.get(key) is True

    def inner(self, key: str) -> Arguments:
        return Arguments(self._given.get(key))

    def each(self, key: str) -> list[Arguments]:
        return [Arguments(one) for one in self._list(key)]

    def texts(self, key: str) -> list[str]:
        return [one for one in self._list(key) if isinstance(one, str)]

    def sizes(self, key: str) -> tuple[int, ...]:
        """A number, or a list of up to three; empty for all else."""
        found = self._given.get(key)
        numbers = cast("list[object]", found) if isinstance(found, list) else [found]
        sizes = [one for one in numbers if isinstance(one, int) and not isinstance(one, bool)]
        return tuple(sizes) if len(sizes) == len(numbers) <= 3 else ()

    def has(self, key: str) -> bool:
        return key in self._given

    def _list(self, key: str) -> list[object]:
        found = self._given.get(key)
        return cast("list[object]", found) if isinstance(found, list) else []


class Channel:
    """Reads and writes messages. Any thread may write."""

    def __init__(self, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
        """`read` returns at most so many bytes, none at the end."""
        self._read, self._write = read, write
        self._buffer = bytearray()
        self._lock = Lock()
        self._number = 0

    def receive(self) -> Object | None:
        """The next message; None at the end. Raises MessageError and ProtocolError for what is not one."""
        head = self._until(b"\r\n\r\n")
        if head is None:
            return None
        length = -1
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() not in _HEADERS:  # a page in a browser can send HTTP to a port
                raise ProtocolError("a header that is not of this protocol")
            if name.strip().lower() == b"content-length" and _LENGTH.fullmatch(value.strip()):
                length = int(value)
        if not 0 <= length <= _MOST_BYTES:
            raise ProtocolError("a message without a valid Content-Length")
        while len(self._buffer) < length:
            if not self._more():
                return None
        try:
            found: object = json.loads(self._taken(length))
        except (ValueError, RecursionError) as error:
            raise MessageError(f"a message that is not JSON: {error}") from None
        if not isinstance(found, dict):
            raise MessageError("a message that is not an object")
        return cast(Object, found)

    def send(self, message: Object) -> None:
        """Sends a message; it gets its number."""
        with self._lock:
            self._number += 1
            body = json.dumps({"seq": self._number, **message}, allow_nan=False).encode()
            self._write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def event(self, name: str, body: Object | None = None) -> None:
        self.send({"type": "event", "event": name, "body": body or {}})

    def _until(self, end: bytes) -> bytes | None:
        while (at := self._buffer.find(end)) < 0:
            if len(self._buffer) > _MOST_HEADER_BYTES:
                raise ProtocolError("a message without a header")
            if not self._more():
                return None
        return self._taken(at + len(end))[:at]

    def _taken(self, count: int) -> bytes:
        found = bytes(self._buffer[:count])
        del self._buffer[:count]
        return found

    def _more(self) -> bool:
        data = self._read(1 << 16)
        self._buffer += data
        return bool(data)
