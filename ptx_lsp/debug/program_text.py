"""The PTX that a user names: a file, or a member of a container."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ptx_lsp.containers.container import SEPARATOR, Member
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container, split_address
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for

_MOST_LISTED = 8
_MOST_BYTES = 1 << 28


@dataclass(frozen=True)
class ProgramText:
    """`address` is the path of the file, or `CONTAINER!MEMBER`."""

    address: Path
    module: Module
    is_member: bool = False


def program_text(given: str, entry: str) -> ProgramText:
    """The text at a path or address. Of a container without the name of a member it is the only one, or the
    only one with the kernel `entry`. A folder is one of a compiler cache: `FOLDER!KERNEL` is the file
    `KERNEL.ptx` below it. Raises RequestError.
    """
    if not given:
        raise RequestError("`program` is missing: the path of a PTX file")
    path, name = split_address(str(Path(given).expanduser()))
    try:
        if Path(path).is_dir() and name:
            return _of_file(_in_cache(path, name))
        container = open_container(path)
        if container is None and name is not None:
            raise RequestError(f"`{path}` is not a container: it has no member `{name}`")
        if container is None:
            return _of_file(Path(path))
        if not container.members:
            raise RequestError(f"`{path}` {container.notes[0]}")
        if name is not None:
            return _of_member(path, container.member(name))
        return _of_member(path, _only(path, container.members, entry))
    except ContainerError as error:
        raise RequestError(f"`{given}`: {error}") from None
    except OSError as error:
        raise RequestError(f"cannot read `{given}`: {error.strerror or error}") from None
    except ValueError as error:  # a path with a NUL character
        raise RequestError(f"cannot read `{given}`: {error}") from None


def _of_file(path: Path) -> ProgramText:
    if path.stat().st_size > _MOST_BYTES:
        raise RequestError(f"`{path}` has more than {_MOST_BYTES >> 20} MiB")
    data = path.read_bytes()
    if b"\0" in data:
        raise RequestError(f"`{path}` is neither PTX nor a container of a known format")
    return ProgramText(path, _module(path, data))


def _of_member(path: str, one: Member) -> ProgramText:
    address = Path(_address(path, one))
    return ProgramText(address, _module(address, one.read()), is_member=True)


def _module(path: Path, data: bytes) -> Module:
    module = Module.parse(data.decode("utf-8", "replace") + "\n")
    if not any(one.is_kernel and one.node.body is not None for one in module.functions):
        raise RequestError(f"`{path}` has no kernel")
    return module


def _only(path: str, members: Sequence[Member], entry: str) -> Member:
    """The only member with the kernel."""
    if entry:
        members = [one for one in members if names_for(entry, _kernels(one.read()))]
    if not members:
        raise RequestError(f"`{path}` has no kernel `{entry}`")
    if len(members) == 1:
        return members[0]
    listed = _listed([_address(path, one) for one in members])
    if entry:
        raise RequestError(f"`{entry}` is in {len(members)} PTX texts of `{path}`; name one: {listed}")
    raise RequestError(f"`{path}` has {len(members)} PTX texts: give `entry`, or name one: {listed}")


def _kernels(text: bytes) -> list[str]:
    """The names after `.entry`."""
    return [found.decode() for found in re.findall(rb"\.entry\s+([A-Za-z_$%][\w$]*)", text)]


def _address(path: str, one: Member) -> str:
    return f"{path}{SEPARATOR}{one.name}"


def _in_cache(folder: str, kernel: str) -> Path:
    found = sorted(Path(folder).rglob(f"{kernel}.ptx"))
    if not found:
        raise RequestError(f"there is no `{kernel}.ptx` below `{folder}`")
    if len(found) > 1:
        listed = _listed([str(one) for one in found])
        what = f"there are {len(found)} files `{kernel}.ptx` below `{folder}`"
        raise RequestError(f"{what}; name one: {listed}")
    return found[0]


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(f"`{one}`" for one in names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
