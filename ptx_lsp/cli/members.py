"""The inputs that the members of a container are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ptx_lsp.cli.inputs import SEPARATOR, Input, InputError, reason, text_of
from ptx_lsp.containers.container import Container, Member
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container, split_address

_MOST_BYTES_ON_STDIN = 256 << 20


def members(path: str, member: str | None = None, was_found: bool = False) -> list[Input] | None:
    """The members of a container, all or those that `member` names; None if the file is not a container. What
    is damaged is an input with an `error`.
    """
    try:
        container = open_container(path)
        if container is None:
            return None
        found = [_member(one, path, was_found) for one in _chosen(container, member)]
        if member is not None:
            return found
        lines = container.notes if not was_found else container.damage
        return [*found, *(_unreadable(path, line, was_found) for line in lines)]
    except ContainerError as error:
        return [_unreadable(path, str(error), was_found)]
    except OSError as error:
        return [_unreadable(path, reason(error), was_found)]


def _unreadable(path: str, reason: str, was_found: bool) -> Input:
    return Input(path, error=reason, was_found=was_found, container=path)


def addressed(address: str) -> list[Input]:
    """The members that an address such as `libfoo.so!3:sm_90` names."""
    path, member = split_address(address)
    if member is None or not Path(path).is_file():
        return [Input(address, error="no such file or directory")]
    found = members(path, member)
    if found is None:
        return [Input(address, error="is a member of a file that is not a container")]
    return [one if one.error is None else one._replace(path=address) for one in found]


def is_member(address: str) -> bool:
    """Whether an address is that of a member, with its whole name."""
    path, name = split_address(address)
    try:
        state = Path(path).stat()
    except OSError:
        return False
    return name is not None and name in _names(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)
def _names(path: str, _time: int, _size: int) -> frozenset[str]:
    try:
        container = open_container(path)
    except (ContainerError, OSError):
        return frozenset()
    return frozenset(one.name for one in container.members) if container is not None else frozenset()


def members_in(data: bytes, name: str) -> list[Input] | None:
    """The members of a container on standard input, with their texts. Raises InputError and OSError."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ptx-lint.") as folder:
        path = Path(folder, "stdin")
        path.write_bytes(data)
        found = members(str(path))
        if found is None:
            return None
        if sum(one.size for one in found) > _MOST_BYTES_ON_STDIN:
            raise InputError(
                f"holds more than {_MOST_BYTES_ON_STDIN >> 20} MiB of PTX, which is read piece by piece only "
                "from a file"
            )
        return [_with_text(one, name) for one in found]


def _with_text(one: Input, name: str) -> Input:
    """A member of standard input, for which there is no file to read it from."""
    path = name if one.member is None else f"{name}{SEPARATOR}{one.member}"
    if one.error is not None or one.payload is None:
        return one._replace(path=path, container=name)
    try:
        text = text_of(one.payload)
        return Input(path, text, one.size, container=name, maxrregcount=one.maxrregcount)
    except InputError as error:
        return Input(path, error=str(error), container=name)


def _member(one: Member, path: str, was_found: bool) -> Input:
    address = f"{path}{SEPARATOR}{one.name}"
    return Input(
        address, None, one.size, None, was_found, path, one.payload, _register_limit(one.options)
    )


_REGISTER_LIMIT = re.compile(r"(?:^|\s)--?maxrregcount[=\s](\d{1,3})(?=\s|$)")


def _register_limit(options: str) -> int | None:
    """The value of the last `-maxrregcount`. ptxas ignores 0 and values above 255."""
    found = _REGISTER_LIMIT.findall(options)
    return int(found[-1]) if found and 0 < int(found[-1]) <= 255 else None


def _chosen(container: Container, wanted: str | None) -> Sequence[Member]:
    """The members with a name (`3:sm_90`), a number (`3`) or a target (`sm_90`); all if `wanted` is None.

    Raises ContainerError if there is none.
    """
    if wanted is None:
        return container.members
    same_target = [one for one in container.members if one.target == wanted]
    return same_target or [container.member(wanted)]
