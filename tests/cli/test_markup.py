"""Nothing that comes from a file becomes markup, a link or a mention where a report is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ptx_lsp.cli import run
from ptx_lsp.ide.cursor.markdown import code as ide_code
from ptx_lsp.ide.cursor.markdown import fenced
from ptx_lsp.lint.reporters.markdown import code, inert, prose, table
from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import Reporter, Run, find
from ptx_lsp.lint.results.style import printable
from tests.cli.conftest import BAD, HEADER, Lint
from tests.strength import number

HOSTILE = (
    "![i](http://e.example/x.png) [a](//b) @somebody #12 http://e.example www.e.example <img src=x> "
    "<!-- GH-7 deadbeefcafe $`x`$ :tada: a|b \\| c ` ``` [x]: /y"
    " &copy; u/r@0a1b2c3d4e5f **b** _e_ ~~s~~ !3 ~l %m"
)
REFERENCE = re.compile(
    r"[@#!~%&^:]\w|://|www\.|\b[\da-f]{7,40}\b|[A-Za-z]-\d|\$(?!\u200b)", re.IGNORECASE
)
"""What GitHub or GitLab makes a link of, in text without markup."""
WORDS = [*"`|\\<>[]()!@#$%&*_~:/ -.a0\n\x1b", "```", "https://a.b", "www.", "deadbeef", "GH-", "<b>", "\\|"]
hostile_text = st.lists(st.sampled_from(WORDS)).map("".join)


def shown(markdown: str) -> tuple[str, str]:
    """The whole text of a page, and what of it is outside code. Fails where there is markup."""
    whole, plain, in_code = "", "", False
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        assert token.type != "html_block"
        for one in token.children or ():
            if one.type == "html_inline":
                assert one.content in ("<code>", "</code>")
                in_code = one.content == "<code>"
                continue
            assert one.type in ("text", "text_special", "code_inline"), (one, markdown)
            whole += one.content
            plain += one.content if one.type != "code_inline" and not in_code else " "
    return whole, plain


def bare(text: str) -> str:
    """Without what may differ, or not be seen."""
    return re.sub(r"[`\s\u200b]", "", text)


@given(hostile_text)
@example("__https://a.b__")
@settings(max_examples=number(80, 400))
def test_text_stands_for_itself(text: str) -> None:
    for written in (prose, code):
        [_, heads, rule, row] = table(("head",), [(f"x {written(text)} x",)])
        whole, plain = shown(f"{heads}\n{rule}\n{row}\n")
        assert bare(whole) == f"headx{bare(printable(text))}x"
        assert not REFERENCE.search(plain), plain


@given(hostile_text)
def test_text_for_a_service_that_may_know_markdown(text: str) -> None:
    written = inert(text)
    assert written.replace("\u200b", "") == text
    kinds = {one.type for token in MarkdownIt("commonmark").parse(written) for one in token.children or ()}
    assert kinds.isdisjoint({"image", "link_open", "html_inline"})


@given(hostile_text.map(printable))
def test_code_in_hovers(text: str) -> None:
    if text.strip():
        inline = MarkdownIt("commonmark").parse(f"x{ide_code(text)}x")[1]
        assert [one.type for one in inline.children or ()] == ["text", "code_inline", "text"]
    [block] = MarkdownIt("commonmark").parse(fenced(f"// {text}\n```\n![i](x)"))
    assert block.content == f"// {text}\n```\n![i](x)\n"


def test_what_a_file_says(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a message and in the name of a file, in every format that is read as Markdown."""
    monkeypatch.chdir(tmp_path)
    name = HOSTILE.replace("/", "\u2215") + ".ptx"
    text = HOSTILE.replace('"', "").replace("\\", "")
    body = f'.pragma "{text}"; bra {text}; ret;'
    Path(name).write_text(f'{HEADER}.pragma "{text}";\n.visible .entry k() {{ {body} }}\n')
    out = lint("--format", "markdown", "--extend-select", "ALL", name, f"no {name}").out
    whole, plain = shown(out)
    assert bare(name) in bare(whole)
    own = re.compile("ptx-lint:|~\\d+")
    assert not REFERENCE.search(own.sub("", plain)), plain
    [file] = json.loads(lint("--format", "json", "--extend-select", "ALL", name).out)["files"]
    messages = [one["message"] for one in file["diagnostics"]]
    assert any("![i](http" in one for one in messages)
    told = json.loads(lint("--format", "rdjson", "--extend-select", "ALL", name).out)["diagnostics"]
    assert [one["message"] for one in told] == list(map(inert, messages))
    [log] = json.loads(lint("--format", "sarif", "--extend-select", "ALL", name).out)["runs"]
    for one, message in zip(log["results"], messages, strict=True):
        assert one["message"]["text"].replace("\u200b", "") == message
        assert "](" not in one["message"]["text"]


def test_what_a_service_would_take_for_a_command(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GitHub and Azure read commands in what is printed: at the beginning of a line, or anywhere."""
    monkeypatch.chdir(tmp_path)
    command = "##[error]x ##vso[task.setvariable variable=PATH]x"
    for folder in ("::error::x", "  ::error::x", command, "\n::error::x"):
        Path(folder).mkdir()
        name = f"{folder}/k.ptx"
        pragma = f'.pragma "{command}"; // {command}\n'
        Path(name).write_text(f"{HEADER}{pragma}.entry k() {{ {pragma} bra X; }}\n")
        formats = ("full", "concise", "github", "json", "json-lines", "sarif", "rdjson", "gitlab")
        for words in (["--show-files"], *(["--format", one] for one in formats)):
            done = lint(*words, name, f"no {name}")
            if words[-1] == "json":
                assert command in json.loads(done.out)["files"][0]["diagnostics"][0]["message"]
            own = [line for line in done.out.splitlines() if line.lstrip().startswith("::")]
            assert len(own) == done.out.count("title=ptx-lint")
            assert not re.search(r"##\w*\[", done.out + done.err), done.out
            assert not any(line.lstrip().startswith("::") for line in done.err.splitlines())


def test_what_a_terminal_would_take_for_a_command(
    lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In what is for people; a diff without colours has the bytes of the file."""
    monkeypatch.chdir(tmp_path)
    Path("k.ptx").write_text(f"{HEADER}.entry k() {{\n\t// \x1b]0;title\x07\n\tret\n}}\n")
    assert "\x1b]0;title\x07" in lint("--diff", "k.ptx").out
    coloured = lint("--diff", "--color", "always", "k.ptx").out
    assert "\t// \u241b]0;title\u2407" in coloured
    assert "\x1b]" not in coloured
    Path("launch.toml").write_text('"\\u001b[2J" = 1\n')
    assert run.main(["--launch", "launch.toml"]) == 2
    Path("\x1b[2J.ptx").write_text("// ptx-run: grid=1 block=1\n" + BAD.replace("mov.b32\t%r1, %r9", "trap"))
    assert run.main(["\x1b[2J.ptx"]) == 1
    left = capsys.readouterr()
    assert "\u241b[2J.ptx:" in left.err
    assert "\x1b" not in left.out + left.err


def test_remarks(tmp_path: Path) -> None:
    """They name files that a configuration has chosen."""
    run = Run([FileReport("k.ptx")], (f"Wrote 1 finding to {HOSTILE}\x1b[2J.",))
    for name in ("markdown", "statistics", "full"):
        reporter = find(name)
        assert isinstance(reporter, Reporter)
        out = "\n".join(reporter.write(run))
        assert "\x1b" not in out
        if name == "markdown":
            assert bare(HOSTILE) in bare(shown(out)[0])
