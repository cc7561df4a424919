"""ptxas in the background: what it measures and says is shown, and nothing that it does can harm."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from ptx_lsp.ptxas import find
from tests.processes import eventually, is_running, number_in
from tests.server.connection import Connection, Json, at, of_file, position

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for ptxas is a script")
URI = "file:///kernel.ptx"
TEXT = """.version 8.0
.target sm_80
.address_size 64
.file 1 "kernel.cu"
.entry first(.param .u64 out)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    .loc 1 12 5
    mov.u32 %r1, %tid.x;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
CAPABILITIES: Json = {
    "workspace": {"codeLens": {"refreshSupport": True}, "diagnostics": {"refreshSupport": True}},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
}
STAND_IN = '''#!{python}
"""A ptxas that counts its runs."""
import os, subprocess, sys, time
if "--version" in sys.argv:
    print("Cuda compilation tools, release 13.5, V13.5.0")
elif "--help" in sys.argv:
    print("Allowed values for this option: 'sm_80','sm_90'.")
else:
    text = open(sys.argv[-1]).read()
    with open({folder!r} + "/runs", "a") as runs:
        runs.write(f"{{os.getpid()}} {{os.getcwd()}}\\n")
    {behaviour}
    if "// odd" in text:
        print("ptxas input.ptx, line 12; warning : something odd about '%r1'")
    print("ptxas info    : Compiling entry function 'first' for 'sm_80'")
    print("ptxas info    : Function properties for first")
    print("    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads")
    print(f"ptxas info    : Used {{30 + text.count('// more')}} registers, used 0 barriers")
'''


class Tool:
    """A stand-in for ptxas."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "ptxas"
        self.behaves("pass")

    def behaves(self, behaviour: str) -> None:
        """`behaviour` is a statement in Python that runs before the answer."""
        text = STAND_IN.format(python=sys.executable, folder=str(self.folder), behaviour=behaviour)
        self.path.write_text(text)
        self.path.chmod(0o755)

    @property
    def runs(self) -> list[tuple[int, str]]:
        """The process and the folder of each run."""
        listed = self.folder / "runs"
        lines = listed.read_text().splitlines() if listed.exists() else []
        return [(int(process), where) for process, where in (line.split(" ", 1) for line in lines)]

    def client(self, **options: Json) -> Connection:
        """A client whose server uses this ptxas."""
        given: dict[str, Json] = {
            "ptxas": "auto", "ptxasPath": str(self.path), "notifications": ["ptx/measured"],
        }
        return Connection(CAPABILITIES, options={**given, **options})


@pytest.fixture
def tool(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


def lens(client: Connection, uri: str = URI) -> str:
    """The title of the first lens."""
    found = client.request("textDocument/codeLens", of_file(uri))
    title = at(client.request("codeLens/resolve", at(found, 0)), "command", "title")
    assert isinstance(title, str)
    return title


def measured(client: Connection) -> int:
    """How often the server told that ptxas has finished."""
    client.take_all()
    return sum(message.get("method") == "ptx/measured" for message in client.notified)


def state(client: Connection) -> Json:
    return at(client.request("ptx/kernelReport", of_file(URI)), "ptxas")


def replace(client: Connection, version: int, text: str) -> None:
    client.change(URI, version, [{"text": text}])


def test_measurements_are_shown_everywhere(tool: Tool) -> None:
    with tool.client() as client:
        client.open(URI, TEXT)
        assert lens(client).startswith("estimated: about ")
        client.wait_until(lambda: measured(client) == 1)
        client.wait_until(lambda: any("codeLens/refresh" in str(one.get("method")) for one in client.asked))
        assert lens(client).startswith("30 registers, 0 spills (ptxas 13.5) | ")
        hover = client.request("textDocument/hover", of_file(URI, position=position(TEXT, "first")))
        assert "measured: 30 registers, 0 spills (ptxas 13.5)" in str(at(hover, "contents", "value"))
        report = client.request("ptx/kernelReport", of_file(URI))
        assert at(report, "ptxas") == {"state": "measured", "version": "13.5", "problem": None}
        assert at(report, "kernels", 0, "measured", "registers") == 30
        assert at(report, "kernels", 0, "measured", "spillStoreBytes") == 0
        curve = client.request("ptx/occupancyCurve", of_file(URI))
        assert (at(curve, "registersSource"), at(curve, "own", "registers")) == ("measured", 30)
        other = client.request("ptx/kernelReport", of_file(URI, target="sm_90"))
        assert at(other, "kernels", 0, "measured") is None


def test_an_edit_brings_the_estimate_back_and_undo_the_measurement(tool: Tool) -> None:
    with tool.client() as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        replace(client, 2, TEXT + "// more\n")
        assert lens(client).startswith("estimated: about ")
        client.wait_until(lambda: measured(client) == 2)
        assert lens(client).startswith("31 registers")
        replace(client, 3, TEXT)
        assert lens(client).startswith("30 registers")  # without another run
        assert len(tool.runs) == 2


def test_what_ptxas_alone_says_is_a_finding_at_the_token_and_the_source_line(tool: Tool) -> None:
    with tool.client() as client:
        client.open(URI, TEXT + "// odd\n")
        client.wait_until(lambda: "something odd" in str(client.published(URI, 1)))
        (found,) = [one for one in client.published(URI, 1) or [] if at(one, "source") == "ptxas"]
        assert at(found, "severity") == 2
        assert at(found, "range", "start") == position(TEXT, "%r1;\n    ret")
        related = at(found, "relatedInformation", 0)
        assert at(related, "location", "uri") == "file:///kernel.cu"
        assert at(related, "location", "range", "start") == {"line": 11, "character": 4}


def odd(client: Connection, version: int) -> list[Json]:
    """Where the finding of ptxas is."""
    found = client.findings(URI, version)
    return [at(one, "range", "start") for one in found if at(one, "source") == "ptxas"]


def test_a_finding_stays_with_its_line_until_ptxas_has_answered(tool: Tool) -> None:
    text = TEXT + "// odd\n"
    with tool.client() as client:
        client.open(URI, text)
        client.wait_until(lambda: "something odd" in str(client.published(URI, 1)))
        tool.behaves("time.sleep(1000)")
        longer = text.replace(".entry", "// one line\n.entry")
        replace(client, 2, longer)
        assert odd(client, 2) == [position(longer, "%r1;\n    ret")]
        replace(client, 3, text)
        assert odd(client, 3) == [position(text, "%r1;\n    ret")]  # known
        replace(client, 4, text.replace("%r1, %tid.x", "%r1, %tid.y"))
        assert odd(client, 4) == [position(text, "%r1;\n    ret")]
        replace(client, 5, text.replace("[%rd1], %r1", "[%rd1+4], %r1"))
        assert odd(client, 5) == []
        replace(client, 6, text)
        assert odd(client, 6) == [position(text, "%r1;\n    ret")]
        tool.behaves("pass")
        replace(client, 7, text.replace("// odd", "// od"))
        client.wait_until(lambda: measured(client) == 4)  # what no longer holds goes
        assert eventually(lambda: odd(client, 7) == [])


def test_clients_that_pull_are_asked_to_pull_again(tool: Tool) -> None:
    can: Json = {
        "workspace": {"diagnostics": {"refreshSupport": True}}, "textDocument": {"diagnostic": {}},
    }
    with Connection(can, options={"ptxas": "auto", "ptxasPath": str(tool.path)}) as client:
        client.open(URI, TEXT + "// odd\n")
        client.wait_until(lambda: any("diagnostic/refresh" in str(one.get("method")) for one in client.asked))
        found = client.request("textDocument/diagnostic", of_file(URI))
        assert "something odd" in str(at(found, "items"))


def test_an_error_that_both_find_is_shown_once(tool: Tool) -> None:
    tool.behaves("print(\"ptxas input.ptx, line 12; error   : Unknown symbol '%r9'\"); sys.exit(255)")
    with tool.client() as client:
        client.open(URI, TEXT.replace("], %r1", "], %r9"))
        client.wait_until(lambda: measured(client) == 1)
        found = client.findings(URI, 1)
        errors = [one for one in found if at(one, "severity") == 1]
        assert [at(one, "source") for one in errors] == ["ptx-lint"]


def compared(client: Connection, old: str) -> Json:
    return client.request("ptx/compare", of_file(URI, old={"name": "old.ptx", "text": old}))


def test_a_comparison_uses_what_was_measured_on_both_sides(tool: Tool) -> None:
    old = TEXT + "// more\n// more\n"
    with tool.client() as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        first = compared(client, old)  # which has not been measured yet
        assert at(first, "ptxas", "old", "state") == "running"
        assert at(first, "ptxas", "new") == {"state": "measured", "version": "13.5", "problem": None}
        figures = at(first, "pairs", 0, "figures")
        assert at(figures, "registers", "says") == "estimated"
        one = at(figures, "measured registers")
        assert (at(one, "old"), at(one, "new"), at(one, "says")) == (None, 30, "measured")
        assert at(first, "pairs", 0, "same") is True
        client.wait_until(lambda: measured(client) == 2)  # of which the client is told
        found = compared(client, old)
        registers = at(found, "pairs", 0, "figures", "registers")
        assert (at(registers, "old"), at(registers, "new"), at(registers, "says")) == (32, 30, "measured")
        assert at(registers, "better") is True
        assert at(found, "pairs", 0, "figures", "spills", "says") == "measured"
        assert at(found, "pairs", 0, "figures", "occupancy", "says") == "measured"
        assert "measured registers" not in str(found)
        assert len(tool.runs) == 2
        assert at(compared(client, TEXT), "pairs", 0, "same") is True  # the file's own text: no run
        assert len(tool.runs) == 2


def test_a_comparison_does_not_wait_for_ptxas(tool: Tool) -> None:
    tool.behaves("time.sleep(1000 if 'more' in text else 0)")
    with tool.client() as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        for _ in range(3):
            found = compared(client, TEXT + "// more\n")
            assert at(found, "ptxas", "old", "state") == "running"
        assert eventually(lambda: len(tool.runs) == 2)
        compared(client, TEXT + "// another\n")  # ends the run on the text that is no longer compared
        client.wait_until(lambda: measured(client) == 2)
        assert eventually(lambda: not is_running(tool.runs[1][0]))
        client.close(URI)
        assert len(tool.runs) == 3


def test_typing_runs_ptxas_once_and_never_waits_for_it(tool: Tool) -> None:
    tool.behaves("time.sleep(1000)")
    with tool.client() as client:
        client.open(URI, TEXT)
        assert eventually(lambda: len(tool.runs) == 1)
        for version in range(2, 52):  # ptxas hangs: every request is answered all the same
            replace(client, version, TEXT.replace("ret;", f"ret; // {version}"))
            hover = client.request("textDocument/hover", of_file(URI, position=position(TEXT, "first")))
            assert "estimated: about" in str(at(hover, "contents", "value"))
            assert client.findings(URI, version) is not None
        first = tool.runs[0][0]
        assert eventually(lambda: not is_running(first))
        assert eventually(lambda: len(tool.runs) >= 2)
        assert len(tool.runs) < 20  # not one for each edit
        assert state(client) == {"state": "running", "version": None, "problem": None}


@pytest.mark.parametrize("how", ["exit", "close", "terminate", "disconnect"])
def test_ptxas_and_its_children_end_with_the_server_or_the_file(tool: Tool, how: str) -> None:
    child = tool.folder / "child"
    tool.behaves(
        "child = subprocess.Popen(['sleep', '1000']); "
        f"print(child.pid, end=' ', file=open({str(child)!r}, 'w')); time.sleep(1000)"
    )
    client = tool.client()
    client.open(URI, TEXT)
    started = number_in(child)
    process, folder = tool.runs[0]
    assert Path(folder).stat().st_mode & 0o777 == 0o700
    if how == "exit":
        assert client.stop() == 0
    elif how == "close":
        client.close(URI)
    elif how == "terminate":
        client.process.terminate()
        assert client.process.wait(60) == -signal.SIGTERM
    else:
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(60) == 1
    assert eventually(lambda: not is_running(process))
    assert eventually(lambda: not is_running(started))
    assert eventually(lambda: not Path(folder).exists())
    if how == "close":
        assert client.stop() == 0


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("os.abort()", "was ended by signal 6"),
        ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
        ("sys.exit(3)", "ended with 3"),
        ("print('\\0\\xff garbage' * 1000); sys.exit(0)", "printed"),
        ("[sys.stdout.write('x' * (1 << 20)) for _ in range(40)]", "printed more than 16 MiB"),
        ("os.execv('/no/such/program', ['x'])", "ended with 1"),
    ],
)
def test_whatever_ptxas_does_only_its_figures_are_lost(tool: Tool, behaviour: str, problem: str) -> None:
    tool.behaves(behaviour)
    with tool.client() as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        assert at(state(client), "state") == "failed"
        assert problem in str(at(state(client), "problem"))
        assert lens(client).startswith("estimated: about ")
        assert client.findings(URI, 1) is not None
        tool.behaves("pass")
        replace(client, 2, TEXT + "// more\n")  # the next text is tried again
        client.wait_until(lambda: measured(client) == 2)
        assert lens(client).startswith("31 registers")


@pytest.mark.parametrize("script", ["#!/bin/sh\nsleep 1000\n", "#!/bin/sh\necho hello\n", "no program\n"])
def test_a_program_that_is_not_ptxas(tool: Tool, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.path.write_text(script)
    with tool.client() as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        assert at(state(client), "state") == "absent"
        assert at(state(client), "problem")
        assert lens(client).startswith("estimated: about ")


def test_it_can_be_turned_off_and_on(tool: Tool) -> None:
    with tool.client(ptxas="off") as client:
        client.open(URI, TEXT)
        assert at(state(client), "state") == "off"
        client.notify("workspace/didChangeConfiguration", {"settings": {"ptx": {"ptxas": "auto"}}})
        client.wait_until(lambda: measured(client) == 1)
        assert lens(client).startswith("30 registers")


def test_the_workspace_cannot_name_the_program(tool: Tool) -> None:
    options: Json = {"ptxas": "auto", "ptxasPath": str(tool.path), "notifications": ["ptx/measured"]}
    with Connection(CAPABILITIES, options=options, folders=[tool.folder]) as client:
        client.wait_until(lambda: any("ptxasPath" in str(one) for one in client.notified))
        settings: Json = {"ptx": {"ptxasPath": str(tool.path)}}
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        assert not tool.runs


@pytest.mark.skipif(find() is None, reason="there is no ptxas here")
def test_the_real_ptxas() -> None:
    options: Json = {"ptxas": "auto", "notifications": ["ptx/measured"]}
    with Connection(CAPABILITIES, options=options) as client:
        client.open(URI, TEXT)
        client.wait_until(lambda: measured(client) == 1)
        assert "registers, 0 spills (ptxas " in lens(client)
        replace(client, 2, TEXT.replace("ret;", "ret, ;"))
        client.wait_until(lambda: measured(client) == 2)
        errors = [one for one in client.findings(URI, 2) if at(one, "severity") == 1]
        assert [at(one, "source") for one in errors] == ["ptx-lint"]
