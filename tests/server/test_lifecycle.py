"""Starting, settings, configuration files, and what happens to messages that are wrong."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest

from ptx_lsp.server.publisher import MOST_TOLD
from ptx_lsp.server.skeleton import skeleton
from ptx_lsp.text import Source
from tests.server.connection import COMMAND, Connection, Json, ResponseError, at, of_file
from tests.server.test_sync import URI, WRONG, rules

FOLDERS: Json = {
    "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}
}


def test_version() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert re.fullmatch(r"ptx-lsp \d+\.\d+\.\d+\n", done.stdout)


def test_wrong_usage() -> None:
    done = subprocess.run([*COMMAND, "--tcp", "nowhere"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "`nowhere` is not HOST:PORT" in done.stderr


def test_check_asks_for_everything(tmp_path: Path) -> None:
    file = tmp_path / "kernel.ptx"
    file.write_text(WRONG)
    command = [*COMMAND, "--check", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "6:11: [undeclared-name]" in done.stdout
    assert "hover" in done.stdout
    assert done.stdout.endswith("every request was answered\n")


def test_exit_without_shutdown_is_an_error() -> None:
    client = Connection(is_forked=False)
    client.notify("exit", None)
    assert client.process.wait(30) == 1


def test_a_client_that_is_gone_ends_the_server() -> None:
    client = Connection(is_forked=False)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(30) == 1


def test_tcp() -> None:
    command = [*COMMAND, "--tcp", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"listening on 127\.0\.0\.1:(\d+)", server.stderr.readline())
        assert found is not None
        for _ in range(2):  # one client after the other
            with socket.create_connection(("127.0.0.1", int(found[1])), timeout=60) as connection:
                params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
                asked: Json = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
                body = json.dumps(asked).encode()
                connection.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
                assert connection.recv(1 << 16).startswith(b"Content-Length: ")
        server.terminate()
        server.wait(30)


def test_wrong_messages_are_answered_and_do_no_harm() -> None:
    with Connection(is_forked=False) as client:
        assert client.process.stdin is not None
        client.process.stdin.write(b"Content-Length: 3\r\n\r\n{{{")
        client.process.stdin.write(b"Nonsense: 1\r\n\r\nContent-Length: 4\r\n\r\nnull")
        with pytest.raises(ResponseError) as wrong:
            client.request("textDocument/hover", {"textDocument": 5})
        assert wrong.value.code in (-32602, -32603)
        with pytest.raises(ResponseError) as unknown:
            client.request("textDocument/nonsense", {})
        assert unknown.value.code == -32601
        client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///none", "version": 3},
                                                 "contentChanges": []})  # fmt: skip
        client.open(URI, WRONG)
        assert "undeclared-name" in rules(client.findings(URI, 1))


def test_messages_out_of_turn_are_errors() -> None:
    """Invalid JSON, requests before `initialize`, a second `initialize`, and requests after `shutdown`."""
    answers: list[Json] = []
    start: Json = {"processId": None, "rootUri": None, "capabilities": {}}
    position: Json = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
    sent: list[bytes] = [b"{{{", b"[]", b"5", b'{"jsonrpc": "2.0"}', b"\xff"]
    asked: list[tuple[str, Json]] = [
        ("textDocument/hover", position), ("ptx/kernelReport", {"textDocument": {"uri": URI}}),
        ("shutdown", None), ("initialize", start), ("initialize", start),
        ("textDocument/hover", position), ("shutdown", None), ("textDocument/hover", position),
    ]
    told: list[Json] = [{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {}}}]
    told += [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate(asked)
    ]
    with subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for body in (*sent, *(json.dumps(one).encode() for one in told)):
            server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            server.stdin.flush()
            if b'"method"' in body and b'"id"' not in body:
                continue  # a notification
            while True:
                size = int(server.stdout.readline().split(b":")[1])
                while server.stdout.readline().strip():
                    pass
                message: Json = json.loads(server.stdout.read(size))
                if isinstance(message, dict) and "method" not in message:
                    answers.append(message)
                    break
        server.stdin.close()
        assert server.wait(30) == 1
    assert [at(one, "id") for one in answers[: len(sent)]] == [None] * len(sent)
    codes = [at(one, "error", "code") if isinstance(one, dict) and "error" in one else 0 for one in answers]
    assert codes[: len(sent)] == [-32700, -32600, -32600, -32600, -32700]
    assert codes[len(sent) :] == [-32002, -32002, -32002, 0, -32600, 0, 0, -32600]


def test_a_cancelled_request_is_answered() -> None:
    with Connection() as client:
        client.open(URI, WRONG)
        identity = client.send("textDocument/hover", of_file(URI, position={"line": 5, "character": 4}))
        client.notify("$/cancelRequest", {"id": identity})
        try:
            client.answer(identity)
        except ResponseError as error:
            assert error.code == -32800


def test_initialization_options() -> None:
    with Connection(options={"ignore": ["undeclared-name"]}) as client:
        client.open(URI, WRONG)
        assert "undeclared-name" not in rules(client.findings(URI, 1))


def test_settings_that_the_client_is_asked_for() -> None:
    settings: Json = {"target": "sm_50", "select": ["E"]}
    text = WRONG.replace("add.s32 %r2, 1, 2", "bar.warp.sync %r1; cp.async.wait_all")
    with Connection(FOLDERS, settings=settings) as client:
        client.open(URI, text)
        assert "needs-target" in rules(client.findings(URI, 1))
        assert "uninitialised-read" not in rules(client.findings(URI, 1))
    with Connection(FOLDERS) as client:
        client.open(URI, text)
        assert "uninitialised-read" in rules(client.findings(URI, 1))


def test_settings_that_are_taken_back_are_as_in_the_beginning() -> None:
    text = WRONG.replace("ret;", "shl.s32 %r1, %r1, 1; ret;")
    with Connection(options={"ignore": ["wrong-modifier"]}) as client:
        client.open(URI, text)
        assert set(rules(client.findings(URI, 1))) == {"undeclared-name"}
        steps: list[tuple[Json, set[str]]] = [
            ({"ptx": {"ignore": ["undeclared-name"]}}, {"wrong-modifier"}),
            ({"ptx": {"target": "sm_90"}}, {"undeclared-name"}),
            ({"ptx": {"ignore": []}}, {"undeclared-name", "wrong-modifier"}),
            (None, {"undeclared-name"}),
        ]
        for settings, left in steps:
            client.notified.clear()
            client.notify("workspace/didChangeConfiguration", {"settings": settings})
            assert set(rules(client.findings(URI, 1))) == left, settings


def test_settings_that_are_wrong_are_told_of_once() -> None:
    with Connection(options={"select": ["no-such-rule"], "target": "sm_1"}) as client:
        client.open(URI, WRONG)
        client.findings(URI, 1)
        client.open("file:///other.ptx", WRONG)
        client.findings("file:///other.ptx", 1)
        told = [one for one in client.notified if one.get("method") == "window/showMessage"]
        assert len(told) == 1
        assert "no-such-rule" in str(at(told[0], "params", "message"))


def test_each_folder_has_its_own_configuration_and_it_changes_live(tmp_path: Path) -> None:
    for name, ignored in (("one", "undeclared-name"), ("two", "unused-register")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ptx-lint.toml").write_text(f'ignore = ["{ignored}"]\n')
    one, two = ((tmp_path / name / "kernel.ptx").as_uri() for name in ("one", "two"))
    with Connection(FOLDERS, folders=[tmp_path / "one", tmp_path / "two"]) as client:
        for uri in (one, two):
            client.open(uri, WRONG)
        assert "undeclared-name" not in rules(client.findings(one, 1))
        assert "undeclared-name" in rules(client.findings(two, 1))
        watched = [at(ask, "params") for ask in client.asked if ask["method"] == "client/registerCapability"]
        assert "**/ptx-lint.toml" in json.dumps(watched)

        config = tmp_path / "one" / "ptx-lint.toml"
        config.write_text('severity = { undeclared-name = "hint" }\n')
        client.notified.clear()
        change: Json = {"uri": config.as_uri(), "type": 2}
        client.notify("workspace/didChangeWatchedFiles", {"changes": [change]})
        found = client.findings(one, 1)
        named = [one for one in found if at(one, "code") == "undeclared-name"]
        assert [at(one, "severity") for one in named] == [4]


def test_files_that_are_not_open_are_judged_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "kernel.ptx"
    file.write_text(WRONG)
    (tmp_path / "excluded.ptx").write_text(WRONG)
    (tmp_path / "ptx-lint.toml").write_text('exclude = ["excluded.ptx"]\n')
    asked: dict[str, Json] = {"previousResultIds": []}
    with Connection(folders=[tmp_path]) as client:
        assert at(client.request("workspace/diagnostic", asked), "items") == []
    with Connection(folders=[tmp_path], options={"workspaceDiagnostics": True}) as client:
        found = client.request("workspace/diagnostic", asked)
        assert at(found, "items", 0, "uri") == file.as_uri()
        assert at(found, "items", 1) is None
        items = at(found, "items", 0, "items")
        assert isinstance(items, list)
        assert "undeclared-name" in rules(items)
        known: Json = {"uri": file.as_uri(), "value": at(found, "items", 0, "resultId")}
        again = client.request("workspace/diagnostic", {"previousResultIds": [known]})
        assert at(again, "items", 0, "kind") == "unchanged"
        client.open(file.as_uri(), WRONG)
        assert at(client.request("workspace/diagnostic", asked), "items") == []


def test_a_broken_configuration_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "ptx-lint.toml").write_text("ignore = 5\n")
    uri = (tmp_path / "kernel.ptx").as_uri()
    with Connection(folders=[tmp_path]) as client:
        client.open(uri, WRONG)
        assert "undeclared-name" in rules(client.findings(uri, 1))
        told = [one for one in client.notified if one.get("method") == "window/showMessage"]
        assert "ptx-lint.toml" in str(at(told[0], "params", "message"))


def test_comments_silence_findings() -> None:
    text = WRONG.replace("1, 2;", "1, 2; // ptx-lint: ignore[undeclared-name]")
    with Connection() as client:
        client.open(URI, text)
        assert "undeclared-name" not in rules(client.findings(URI, 1))


def test_of_very_many_findings_the_worst_are_told() -> None:
    text = WRONG.replace("  ret;", "  add.s32 %q, 1, 2;\n" * (MOST_TOLD + 50) + "  ret;")
    with Connection() as client:
        client.open(URI, text)
        found = client.findings(URI, 1)
        assert len(found) == MOST_TOLD + 1
        assert "many-findings" in rules(found)
        worst = [one for one in found if at(one, "code") != "many-findings"]
        assert all(at(one, "severity") == 1 for one in worst)


def test_outline_keeps_lines_and_offsets() -> None:
    text = b'.entry f() { add; // }\n /* } */ { "}" }\n}\n.func g();\n.entry h() {\nret;'
    found = skeleton(text)
    assert len(found) == len(text)
    assert Source(found).line_starts == Source(text).line_starts
    assert found.split() == b".entry f() { } .func g(); .entry h() {".split()
