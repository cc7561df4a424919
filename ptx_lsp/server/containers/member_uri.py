"""URIs of members of containers: `ptx-member:`, the path of the container, `!` and the name of the member, as
in `ptx-member:/home/me/libfoo.so!3:sm_90`.
"""

from __future__ import annotations

from typing import Final

from pygls.uris import from_fs_path, to_fs_path

from ptx_lsp.containers.container import SEPARATOR

SCHEME: Final = "ptx-member"
_MEMBER: Final = f"{SCHEME}:"
_READ_ONLY: Final = (_MEMBER, "git:")
"""Members of containers, and revisions of files that editors show."""


def member_uri(address: str) -> str:
    """The URI of `CONTAINER!MEMBER`."""
    return (from_fs_path(address) or "").replace("file:", _MEMBER, 1)


def member_address(uri: str) -> str | None:
    """`CONTAINER!MEMBER`; None if the URI is not that of a member."""
    return to_fs_path(f"file:{uri.removeprefix(_MEMBER)}") if uri.startswith(_MEMBER) else None


def file_and_member(uri: str) -> tuple[str | None, str | None]:
    """The path of a file, or that of a container and the name of the member. There is no path for a text that
    is not on this disk.
    """
    address = member_address(uri)
    if address is None:
        return to_fs_path(uri), None
    path, _, member = address.rpartition(SEPARATOR)
    return path, member


def path_of(uri: str) -> str | None:
    """The path of a file, or of the container of a member; None for a text that is not on this disk."""
    return file_and_member(uri)[0]


def is_member(uri: str) -> bool:
    return uri.startswith(_MEMBER)


def is_read_only(uri: str) -> bool:
    """Whether edits of the text could not be saved."""
    return uri.startswith(_READ_ONLY)
