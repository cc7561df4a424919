"""Containers: what is in them, and their members as documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.server.connection import Connection, Json, ResponseError, at, of_file, position
from tests.server.containers.fat_binary import fat_binary, machine_code
from tests.server.test_panels import SHOWN, differences

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry first(.param .u64 out)
{
    .reg .b32 %r<3>;
    mov.u32 %r1, %tid.x;
    add.s32 %r2, %r1, %r1;
    ret;
}
.visible .entry _Z6secondPf(.param .u64 out) { ret; }
"""
OTHER = KERNEL.replace("sm_80", "sm_90").replace("8.0", "8.3")


@pytest.fixture(scope="module")
def client() -> Iterator[Connection]:
    with Connection() as started:
        yield started


@pytest.fixture
def container(tmp_path: Path) -> Path:
    path = tmp_path / "lib foo.fatbin"
    path.write_bytes(fat_binary(KERNEL.encode(), OTHER.encode()))
    return path


def members(client: Connection, path: Path) -> list[Json]:
    found = at(client.request("ptx/containerMembers", of_file(path.as_uri())), "members")
    assert isinstance(found, list)
    return found


def uri_of(client: Connection, path: Path, number: int = 0) -> str:
    uri = at(members(client, path)[number], "uri")
    assert isinstance(uri, str)
    return uri


def test_the_members_of_a_container(client: Connection, container: Path) -> None:
    found = client.request("ptx/containerMembers", of_file(container.as_uri()))
    assert not list(differences(SHOWN["ptx/containerMembers"], found))
    rows = [[at(one, key) for key in ("name", "target", "version")] for one in members(client, container)]
    assert rows == [["1:sm_80", "sm_80", "8.0"], ["2:sm_90", "sm_90", "8.3"]]
    assert unquote(uri_of(client, container)) == f"ptx-member://{container}!1:sm_80"


def test_text_and_kernels_of_a_member(client: Connection, container: Path) -> None:
    asked = of_file(uri_of(client, container, 1))
    assert client.request("ptx/memberText", asked) == {"text": OTHER}
    found = client.request("ptx/memberKernels", asked)
    assert not list(differences(SHOWN["ptx/memberKernels"], found))
    assert [at(found, "kernels", n, "displayName") for n in (0, 1)] == ["first", "second"]
    assert at(found, "kernels", 0, "selectionRange", "start") == position(OTHER, "first")


def test_uris_as_editors_write_them(client: Connection, container: Path) -> None:
    plain = f"ptx-member:{container}!1:sm_80"
    for uri in (plain, plain.replace(" ", "%20"), plain.replace("!", "%21").replace("k:", "k%3A")):
        assert client.request("ptx/memberText", of_file(uri)) == {"text": KERNEL}


def test_a_container_that_was_built_again_is_read_again(client: Connection, container: Path) -> None:
    assert len(members(client, container)) == 2
    container.write_bytes(fat_binary(OTHER.encode()))
    assert [at(one, "name") for one in members(client, container)] == ["1:sm_90"]
    asked = of_file(f"ptx-member:{container}!1:sm_90")
    assert client.request("ptx/memberText", asked) == {"text": OTHER}


def test_a_container_without_ptx_says_so(client: Connection, tmp_path: Path) -> None:
    path = tmp_path / "kernel.fatbin"
    path.write_bytes(machine_code(90))
    found = client.request("ptx/containerMembers", of_file(path.as_uri()))
    assert at(found, "members") == []
    assert at(found, "others") == [{"kind": "machine code", "target": "sm_90", "count": 1}]
    assert at(found, "notes") == ["holds no PTX, only machine code for sm_90"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (fat_binary(KERNEL.encode())[:40], "lib.so: is truncated"),
        (b"\x7fELF", "lib.so: "),
        (b"text\n", "lib.so: is not a container"),
        (None, "lib.so: No such file"),
    ],
)
def test_what_is_no_container_gets_one_line(
    client: Connection, tmp_path: Path, data: bytes | None, said: str
) -> None:
    path = tmp_path / "lib.so"
    if data is not None:
        path.write_bytes(data)
    asked = of_file(path.as_uri()), of_file(f"ptx-member:{path}!1:sm_80")
    for method, params in zip(("ptx/containerMembers", "ptx/memberText"), asked, strict=True):
        with pytest.raises(ResponseError) as error:
            client.request(method, params)
        assert error.value.code == -32803
        message = str(error.value)
        assert "\n" not in message
        assert said in message or method == "ptx/memberText"


def test_only_members_are_read_as_members(client: Connection, container: Path) -> None:
    for uri in (container.as_uri(), f"ptx-member:{container}", f"ptx-member:{container}!9:sm_80", ""):
        with pytest.raises(ResponseError):
            client.request("ptx/memberText", of_file(uri))


# -- members as documents -------------------------------------------------------------------------

WRONG = KERNEL.replace("add.s32", "add.s33")


def test_a_member_has_the_features_of_a_file(client: Connection, container: Path) -> None:
    container.write_bytes(fat_binary(WRONG.encode()))
    uri = uri_of(client, container)
    client.open(uri, WRONG)
    findings = client.findings(uri, 1)
    assert any("s33" in str(at(one, "message")) for one in findings)
    hover = client.request("textDocument/hover", of_file(uri, position=position(WRONG, "mov")))
    assert "mov" in str(at(hover, "contents"))
    symbols = client.request("textDocument/documentSymbol", of_file(uri))
    assert at(symbols, 0, "name") == "first"
    place = at(client.request("textDocument/definition", of_file(uri, position=position(WRONG, "%r1;"))), 0)
    assert at(place, "uri") == uri
    report = client.request("ptx/kernelReport", of_file(uri))
    assert at(report, "kernels", 0, "name") == "first"


def test_a_member_cannot_be_edited(client: Connection, container: Path) -> None:
    container.write_bytes(fat_binary(WRONG.encode()))
    file = (container.parent / "file.ptx").as_uri()
    uri = uri_of(client, container)
    offered: dict[str, Json] = {}
    for one in (file, uri):
        client.open(one, WRONG)
        client.findings(one, 1)
        place = position(WRONG, "add.s33", 1)
        span: Json = {"start": place, "end": place}
        asked = of_file(one, range=span, context={"diagnostics": []})
        actions = client.request("textDocument/codeAction", asked)
        options: Json = {"tabSize": 4, "insertSpaces": True}
        edits = client.request("textDocument/formatting", of_file(one, options=options))
        at_name = of_file(one, position=position(WRONG, "%r1"))
        offered[one] = [actions, edits, client.request("textDocument/prepareRename", at_name)]
    assert all(isinstance(one, (list, dict)) and one for one in _list(offered[file]))
    assert offered[uri] == [[], None, None]
    with pytest.raises(ResponseError, match="read-only"):
        client.request("textDocument/rename", of_file(uri, position=position(WRONG, "%r1"), newName="%x"))


def test_renaming_in_a_file_leaves_open_members_alone(client: Connection, container: Path) -> None:
    defining = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .func helper() { ret; }\n"
    declaring = defining.replace(".visible .func helper() { ret; }", ".extern .func helper();")
    container.write_bytes(fat_binary(declaring.encode()))
    uris = [(container.parent / name).as_uri() for name in ("a.ptx", "b.ptx")]
    for uri, text in zip([*uris, uri_of(client, container)], (defining, declaring, declaring), strict=True):
        client.open(uri, text)
    asked = of_file(uris[0], position=position(defining, "helper"), newName="renamed")
    changed = at(client.request("textDocument/rename", asked), "changes")
    assert isinstance(changed, dict)
    assert sorted(changed) == uris


def test_the_configuration_of_the_container_s_folder_applies(client: Connection, container: Path) -> None:
    newer = WRONG.replace("sm_80", "sm_90")
    container.write_bytes(fat_binary(WRONG.encode(), newer.encode()))
    configuration = 'target = "sm_100"\n[per-file-ignores]\n"*!1:sm_80" = ["wrong-modifier"]\n'
    (container.parent / "ptx-lint.toml").write_text(configuration, encoding="utf-8")
    for number, text in enumerate((WRONG, newer)):
        uri = uri_of(client, container, number)
        client.open(uri, text)
        assert at(client.request("ptx/kernelReport", of_file(uri)), "target") == "sm_100"
        codes = [at(one, "code") for one in client.findings(uri, 1)]
        assert ("wrong-modifier" in codes) == (number == 1)


def _list(value: Json) -> list[Json]:
    assert isinstance(value, list)
    return value
