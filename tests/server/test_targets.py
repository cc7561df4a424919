"""A project that is judged for several targets: what the editor is told is what `ptx-lint` tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.server.connection import Connection, Json, at

TEXT = """.version 8.5
.target sm_90
.address_size 64
.entry k()
{
    .reg .b32 %r<3>;
    cp.async.wait_all;
    mov.b32 %r1, %r9;
    ret;
}
"""
UNDECLARED = (8, "`%r9` is not declared: `%r<3>` ends with `%r2`")
PUSHED: Json = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
PULLING: Json = {
    "textDocument": {"diagnostic": {"relatedInformation": True}}, "workspace": {"diagnostics": {}}
}


@pytest.fixture
def uri(tmp_path: Path) -> str:
    configure(tmp_path, "sm_90", "sm_75", "sm_70")
    (tmp_path / "k.ptx").write_text(TEXT)
    return (tmp_path / "k.ptx").as_uri()


def configure(folder: Path, *targets: str) -> None:
    (folder / "ptx-lint.toml").write_text(f'targets = {json.dumps(targets)}\nignore = ["W"]\n')


def missing(line: int, target: str, only: bool = True) -> tuple[int, str]:
    """What is told of `cp.async` where it is not there."""
    needs = "it requires PTX ISA 7.0 and sm_80 or higher"
    return line, f"`cp.async.wait_all` is not supported on `{target}`; {needs}{f' ({target} only)' * only}"


def waits(client: Connection, uri: str, version: int, *expected: tuple[int, str]) -> None:
    """Until these are the findings, by their lines from 1: what is told first of a file may be less."""

    def found() -> set[tuple[Json, Json]]:
        told = client.published(uri, version) or []
        return {(at(one, "range", "start", "line"), at(one, "message")) for one in told}

    client.wait_until(lambda: found() == {(line - 1, message) for line, message in expected})


def test_what_some_targets_have_says_which(uri: str) -> None:
    with Connection(PUSHED) as client:
        client.open(uri, TEXT)
        waits(client, uri, 1, missing(7, "sm_75"), missing(7, "sm_70"), UNDECLARED)


def test_edits(uri: str) -> None:
    """What was told of every target follows the text."""
    with Connection(PUSHED) as client:
        client.open(uri, TEXT)
        waits(client, uri, 1, missing(7, "sm_75"), missing(7, "sm_70"), UNDECLARED)
        line = {"start": {"line": 6, "character": 0}, "end": {"line": 7, "character": 0}}
        client.change(uri, 2, [{"range": line, "text": "\n"}])
        waits(client, uri, 2, UNDECLARED)
        client.change(uri, 3, [{"range": line, "text": "    ret; cp.async.wait_all;\n\n"}])
        undeclared = (9, UNDECLARED[1])
        waits(client, uri, 3, missing(7, "sm_75"), missing(7, "sm_70"), undeclared)


def test_comments_silence_for_all_targets(uri: str) -> None:
    """One that silences what only some targets have is of use."""
    silenced = TEXT.replace("wait_all;", "wait_all; // ptx-lint: ignore[needs-target]")
    with Connection(PUSHED) as client:
        client.open(uri, silenced)
        waits(client, uri, 1, UNDECLARED)


def test_configuration_that_changes(uri: str, tmp_path: Path) -> None:
    with Connection(PUSHED) as client:
        client.open(uri, TEXT)
        waits(client, uri, 1, missing(7, "sm_75"), missing(7, "sm_70"), UNDECLARED)
        changed: Json = [{"uri": (tmp_path / "ptx-lint.toml").as_uri(), "type": 2}]
        for targets, more in (
            (["sm_90"], list[tuple[int, str]]()),
            (["sm_90", "sm_70"], [missing(7, "sm_70")]),
            (["sm_70"], [missing(7, "sm_70", only=False)]),
        ):
            configure(tmp_path, *targets)
            client.notify("workspace/didChangeWatchedFiles", {"changes": changed})
            waits(client, uri, 1, *more, UNDECLARED)


def test_one_target_of_the_client_is_all(uri: str) -> None:
    with Connection(PUSHED, options={"target": "sm_70"}) as client:
        client.open(uri, TEXT)
        waits(client, uri, 1, missing(7, "sm_70", only=False), UNDECLARED)


def test_files_that_are_not_open(uri: str, tmp_path: Path) -> None:
    options: Json = {"workspaceDiagnostics": True}
    with Connection(PULLING, folders=[tmp_path], options=options) as client:
        answer = client.request("workspace/diagnostic", {"previousResultIds": []})
        items = at(answer, "items", 0, "items")
        assert isinstance(items, list)
        messages = [at(one, "message") for one in items]
        assert messages == [missing(7, "sm_70")[1], missing(7, "sm_75")[1], UNDECLARED[1]]


def test_many_findings(uri: str) -> None:
    """No more are told than of one target, and how many there are."""
    with Connection(PUSHED) as client:
        client.open(uri, TEXT.replace("cp.async.wait_all;", "bra X;\n" * 1500))
        found = client.findings(uri, 1)
        assert len(found) == 1001
        assert "1501 findings" in str(at(found[-1], "message"))
