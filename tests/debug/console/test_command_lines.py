"""Lines at random: each gets an answer, and none an internal error."""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptx_lsp.debug.console.registry import all_commands
from ptx_lsp.debug.program import Program, Settings
from ptx_lsp.debug.terminal.session import Session
from ptx_lsp.model.module import Module
from tests.debug import kernels

ARGUMENTS: tuple[str, ...] = (
    "", "1", "13", "99", "0", "-1", "3-1", "1-2", "*13", "+1", "-", "divergent", "kernel.ptx:13", "x.cu:4",
    "%r0", "%r1@3", "%r1@*", "%rd0", "%p", "out", "[%rd0]:u32", "shared[0]:f32x4", "[0]", "if %tid.x == 3",
    "%r1 = 3", "[%rd0]:f32 = 1.5", "show source", "listsize 3", "/x", "/8xw", "/w", "/2i", "/s", "/q",
    "/99999999x", "$", "$1", "$99", "block 1", "lane 5", "warp 0", "thread (3,0,0)", "thread (", "race",
    "system", "1 +", '"', "(((", "%", "threadIdx.x", "1,5", "5,1", "display 1", "1 2 3", "9" * 21, "\u0661",
    "\u00b2", "\u00e9", "\x00", "0x" + "f" * 40,
)
WORDS = tuple(sorted({word for one in all_commands() for word in (one.name, *one.aliases)} - {"quit"}))
LINES = st.one_of(
    st.tuples(st.sampled_from(WORDS), st.sampled_from(ARGUMENTS), st.sampled_from(ARGUMENTS)).map(" ".join),
    st.tuples(st.sampled_from(WORDS), st.text(max_size=12)).map("".join),
    st.text(max_size=20),
)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Generator[Session]:
    path = kernels.written(tmp_path_factory.mktemp("kernel"), kernels.DIVERGENT)
    launch = Settings(path, "divergent", (1,), (32,), specs=("u32:zeros(32)",), is_checked=True)
    found = Session(Program(path, Module.parse(path.read_text()), launch))
    yield found
    found.debuggee.end()


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINES, max_size=8))
def test_no_line_has_an_internal_error(session: Session, lines: list[str]) -> None:
    is_running = session.debuggee.stopped.stop.reason not in ("start", "end")
    for line in ("delete", "undisplay", "" if is_running else "start", *lines):
        if line.split() and not "quit".startswith(line.split()[0]) and not "exit".startswith(line.split()[0]):
            said = io.StringIO()
            with redirect_stdout(said):
                session.execute(line)
                session.interpreter.completions(line)
                session.status()
            assert "internal error" not in said.getvalue(), line
    session.console.is_over = False


def test_an_internal_error_is_said(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(line: str) -> None:
        raise KeyError(line)

    monkeypatch.setattr(session.interpreter, "execute", fail)
    said = io.StringIO()
    with redirect_stdout(said):
        session.execute("bt")
    assert "internal error" in said.getvalue()


def test_each_command_has_help() -> None:
    for one in all_commands():
        assert one.summary.endswith("."), one.name
        assert "Usage:" in one.help or one.name.startswith("info "), one.name


def test_written_files(tmp_path: Path, session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "commands"
    script.write_text("# first\necho one\n\nnonsense\necho two\n")
    session.execute(f"source {script}")
    assert capsys.readouterr().out == 'one\nUndefined command: "nonsense".  Try "help".\n'
