"""PTX in containers, as cuobjdump extracts it (`data/members.json`), and what is said of other files."""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import cast

import pytest

from ptx_lsp.containers.container import Container
from ptx_lsp.containers.error import ContainerError
from ptx_lsp.containers.registry import open_container, read_member, split_address
from tests.containers.crafted import (
    LZ4,
    PTX,
    ZSTD,
    archive,
    entry,
    fat_binary,
    lz4_entry,
    windows_library,
    windows_object,
    zstd_entry,
)
from tests.containers.make import DATA, MEMBERS, MODES, Tools, expectations, make

EXPECTED = cast(dict[str, dict[str, str]], json.loads(MEMBERS.read_text()))
Write = Callable[[bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a file, and returns its path."""

    def written(data: bytes) -> str:
        path = tmp_path / "container"
        path.write_bytes(data)
        return str(path)

    return written


def container(path: Path | str) -> Container:
    found = open_container(str(path))
    assert found is not None
    return found


def hashes(found: Container) -> dict[str, str]:
    return {one.name: sha256(one.read()).hexdigest() for one in found.members}


@pytest.mark.parametrize("name", EXPECTED)
def test_members_are_what_cuobjdump_extracts(name: str) -> None:
    assert list(hashes(container(DATA / name)).items()) == list(EXPECTED[name].items())


def test_every_container_is_recorded() -> None:
    assert {path.name for path in DATA.iterdir()} == {*EXPECTED, MEMBERS.name}
    assert sum(map(len, EXPECTED.values())) > 25


def test_cuobjdump_agrees_with_what_is_recorded(tmp_path: Path) -> None:
    tools = Tools(tmp_path)
    if tools.missing:
        pytest.skip(f"needs {', '.join(tools.missing)}")
    for name in make(tools):
        found = dict(expectations(tools, name))
        assert hashes(container(tmp_path / name)) == found
        assert list(found) == list(EXPECTED[name])


@pytest.mark.parametrize("mode", MODES)
def test_members_have_what_the_container_states(mode: str) -> None:
    found = container(DATA / f"{mode}.fatbin")
    compression = {"none": "", "speed": "lz4"}.get(mode, "zstd")
    assert [(one.target, one.version, one.compression) for one in found.members] == [
        ("sm_80", "8.0", compression), ("sm_90", "8.8", compression), ("sm_100f", "8.8", compression)
    ]  # fmt: skip
    for one in found.members:
        length = len(one.read())
        assert length < one.size <= length + 8
        assert (
            one.compressed_size == one.size
            if not compression
            else one.compressed_size < one.size + 16
        )
    assert [(one.kind, one.target, one.number) for one in found.others] == [
        ("machine code", "sm_90", 1)
    ]
    assert found.notes == ()


def test_names_and_options_of_compilations() -> None:
    [member] = container(DATA / "named.fatbin").members
    assert (member.identifier, member.options) == ("saxpy.cu", "-O1 -v")
    assert {one.options for one in container(DATA / "together_size.fatbin").members} == {"-O1 -v"}


def test_members_of_archives_have_the_names_of_their_files() -> None:
    found = container(DATA / "libboth.a").members
    long = "a_name_of_more_than_sixteen_bytes.o"
    assert [one.part for one in found] == ["times.o", "times.o", long, long]


def test_members_can_be_sent_to_other_processes() -> None:
    found = container(DATA / "libboth.a")
    assert hashes(pickle.loads(pickle.dumps(found))) == hashes(found)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("machine.cubin", "holds no PTX, only machine code for sm_90"),
        ("machine.fatbin", "holds no PTX, only machine code for sm_90"),
    ],
)
def test_without_ptx(name: str, note: str) -> None:
    found = container(DATA / name)
    assert (found.members, found.notes) == ((), (note,))
    with pytest.raises(ContainerError, match=note):
        found.member("1")


def test_kinds_without_ptx_are_told_apart(write: Write) -> None:
    entries = [
        entry(kind=kind, target=target)
        for kind, target in ((2, 90), (2, 80), (2, 90), (8, 90), (77, 90))
    ]
    [note] = container(write(fat_binary(*entries))).notes
    assert note == (
        "holds no PTX, only machine code for sm_90, sm_80; LTO IR for sm_90; "
        "code of an unknown kind (77) for sm_90"
    )


def test_files_without_device_code(write: Write) -> None:
    assert container(write(archive())).notes == ("is an archive without device code",)
    assert container(write(windows_library(b"", name=b".text"))).notes == (
        "is a Windows program without device code",
    )
    assert container(write(fat_binary())).notes == ("is a fat binary without device code",)
    python = Path(sys.executable).resolve()
    if python.read_bytes()[:4] == b"\x7fELF":
        assert container(python).notes == ("is an ELF file without device code",)


def test_other_files_are_no_containers(tmp_path: Path, write: Write) -> None:
    for data in (
        b"",
        b"M",
        PTX,
        b"MZ is how this text begins",
        b"\x7fEL",
        b"!<arch>",
        b"\xff" * 100,
    ):
        assert open_container(write(data)) is None
    assert open_container(str(tmp_path)) is None
    with pytest.raises(FileNotFoundError):
        open_container(str(tmp_path / "missing"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert open_container(str(tmp_path / "pipe")) is None


def test_windows_libraries(write: Write) -> None:
    found = container(write(windows_library(fat_binary(entry()) + bytes(456))))
    assert [(one.name, one.read()) for one in found.members] == [("1:sm_90", PTX)]


def test_windows_object_files(write: Write) -> None:
    for name in (b".nv_fatbin", b"__nv_relfatbin"):
        found = container(write(archive((b"a.obj/", windows_object(fat_binary(entry()), name)))))
        assert [(one.name, one.part, one.read()) for one in found.members] == [
            ("1:sm_90", "a.obj", PTX)
        ]
    assert container(write(windows_object(b"", b".text"))).notes == (
        "is a Windows object file without device code",
    )
    assert open_container(write(windows_object(fat_binary())[:50])) is None


def test_archives_of_bsd(write: Write) -> None:
    data = b"long name.fatbin\0\0\0\0" + fat_binary(entry())
    found = container(write(archive((b"#1/20", data), (b"b.o", fat_binary(entry())))))
    assert [(one.name, one.part, one.read()) for one in found.members] == [
        ("1:sm_90", "long name.fatbin", PTX), ("2:sm_90", "b.o", PTX)
    ]  # fmt: skip


def test_a_member_by_name_or_number() -> None:
    path = str(DATA / "none.fatbin")
    assert read_member(path, "2:sm_90") == read_member(path, "2")
    for name in ("4", "2:sm_80", "sm_90", ""):
        with pytest.raises(
            ContainerError, match=f"no member `{name}`; it has `1:sm_80`, `2:sm_90`, `3:sm_100f`"
        ):
            read_member(path, name)
    with pytest.raises(ContainerError, match="not a container"):
        read_member(__file__, "1")


def test_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("lib.so", "odd!1", "odd!1!2"):
        Path(name).touch()
    for address, parts in {
        "lib.so": ("lib.so", None),
        "lib.so!3:sm_90": ("lib.so", "3:sm_90"),
        "lib.so!": ("lib.so", ""),
        "lib.so!a!b": ("lib.so", "a!b"),
        "odd!1": ("odd!1", None),
        "odd!1!2": ("odd!1!2", None),
        "odd!1!3": ("odd!1", "3"),
        "missing": ("missing", None),
        "missing!3:sm_90a": ("missing", "3:sm_90a"),
        "missing!text": ("missing!text", None),
        "!1": ("!1", None),
    }.items():
        assert split_address(address) == parts


@pytest.mark.parametrize(
    ("module", "package", "read"),
    [
        ("zstandard", "zstandard", lambda: read_member(str(DATA / "size.fatbin"), "1")),
        ("lz4.block", "lz4", lambda: read_member(str(DATA / "speed.fatbin"), "1")),
        ("elftools.elf.elffile", "pyelftools", lambda: open_container(str(DATA / "add.o"))),
    ],
)
def test_a_missing_package(
    module: str, package: str, read: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ContainerError) as error:
        read()
    assert (
        str(error.value)
        == f"needs the package `{package}`; install it with `pip install 'ptx-lsp[containers]'`"
    )


def test_plain_fat_binaries_need_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("zstandard", "lz4.block", "elftools.elf.elffile"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(read_member(str(DATA / "none.fatbin"), "1")) > 100


BOMB = bytes(65 << 20)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: zstd_entry(PTX, len(PTX) + 1), "does not decompress to the stated 45 bytes"),
        (lambda: zstd_entry(PTX, len(PTX) - 1), "does not decompress to the stated 43 bytes"),
        (lambda: zstd_entry(BOMB), "too large: 65 MiB; the limit is 64 MiB"),
        (lambda: zstd_entry(BOMB, 1000), "does not decompress to the stated 1000 bytes"),
        (lambda: zstd_entry(PTX, 1 << 63), "the limit is 64 MiB"),
        (lambda: lz4_entry(PTX, len(PTX) + 1), "does not decompress to the stated 45 bytes"),
        (lambda: lz4_entry(PTX, len(PTX) - 1), "LZ4 cannot decompress it"),
        (lambda: lz4_entry(BOMB, len(BOMB)), "too large: 65 MiB; the limit is 64 MiB"),
        (lambda: lz4_entry(BOMB, 1000), "LZ4 cannot decompress it"),
        (lambda: lz4_entry(PTX, 1 << 63), "the limit is 64 MiB"),
        (lambda: entry(b"\xff" * 50, flags=ZSTD, whole=90), "zstd cannot decompress it"),
        (lambda: entry(b"\xff" * 50, flags=LZ4, whole=90), "LZ4 cannot decompress it"),
        (lambda: entry(flags=0x1000, whole=90), "compressed in an unknown way"),
        (lambda: entry(flags=0x1_0000), "is obfuscated"),
    ],
)
def test_members_that_lie(made: Callable[[], bytes], message: str, write: Write) -> None:
    [member] = container(write(fat_binary(made()))).members
    with pytest.raises(ContainerError, match=message) as error:
        member.read()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "texts", "damage"),
    [
        (
            fat_binary(entry(), entry())[:-8],
            1,
            "is truncated: the fat binary at byte 0 is not complete",
        ),
        (fat_binary(entry(), b"rest"), 1, "has no complete entry at byte 128"),
        (fat_binary(entry()) + b"junk", 1, "has no fat binary at byte 128"),
        (
            archive((b"a.o", fat_binary(entry())), (b"b.o", b"\x7fELF")),
            1,
            "b.o: is damaged: its ELF headers cannot be read",
        ),
        (
            archive((b"a.o", fat_binary(entry()))) + b"rest",
            1,
            "is truncated or damaged: no complete file of the archive at byte 196",
        ),
    ],
)
def test_the_rest_of_damaged_containers(data: bytes, texts: int, damage: str, write: Write) -> None:
    found = container(write(data))
    assert [one.read() for one in found.members] == [PTX] * texts
    assert found.notes == (damage,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (fat_binary(entry())[:40], "is truncated: the fat binary at byte 0 is not complete"),
        (b"\x50\xed\x55\xba\x09\0\x10\0" + bytes(8), "unknown version"),
        (b"\x7fELF\x09\x01\x01" + bytes(57), "ELF headers"),
        (
            (DATA / "add.o").read_bytes()[:-1],
            "is truncated: its section table is not inside the file",
        ),
        (b"!<thin>\n", "is a thin archive"),
        (windows_library(fat_binary(entry()))[:120], "section table"),
        (windows_library(fat_binary(entry()))[:150], "is truncated: a section"),
    ],
)
def test_damaged_containers(data: bytes, message: str, write: Write) -> None:
    with pytest.raises(ContainerError, match=message):
        open_container(write(data))


def test_names_from_files_have_no_control_characters(write: Write) -> None:
    [member] = container(write(archive((b"\x1b[2J\na", fat_binary(entry()))))).members
    assert member.part == "?[2J?a"
