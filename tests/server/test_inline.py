"""Blocks of inline assembly in files in other languages, with a real server process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.server.connection import Connection, Json, ResponseError, at, of_file, position

URI = "file:///work/kernel.cu"
TEXT = r"""__device__ unsigned scaled(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("{\n\t"
      ".reg .b32 %%t;\n\t"
      "add.u32 %%t, %1, %2;\n\t"
      "mul.lo.u23 %0, %%t, %1;\n\t"
      "}\n" : "=r"(c) : "r"(a), "r"(b + 1));
  return c;
}
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Connection]:
    with Connection.of_editor("nvim-0.11.4") as started:
        started.open(URI, TEXT, language="cuda")
        yield started


def ask(client: Connection, method: str, what: str, skip: int = 0, **more: Json) -> Json:
    place = position(TEXT, what, skip)
    return client.request(f"textDocument/{method}", of_file(URI, position=place, **more))


def shown(range: Json, text: str = TEXT) -> str:
    """The text at a range of one line."""
    line = at(range, "start", "line")
    start, end = at(range, "start", "character"), at(range, "end", "character")
    assert isinstance(line, int) and isinstance(start, int) and isinstance(end, int)
    assert at(range, "end", "line") == line
    return text.split("\n")[line][start:end]


def rows(value: Json) -> Sequence[Json]:
    assert isinstance(value, list)
    return value


def items(client: Connection, what: str, skip: int = 0) -> dict[Json, Json]:
    found = ask(client, "completion", what, skip)
    return {at(one, "label"): one for one in rows(at(found, "items"))}


def edited(text: str, edits: Json) -> str:
    """A text after edits of single lines."""
    lines = text.split("\n")
    for one in sorted(rows(edits), key=lambda each: str(at(each, "range")), reverse=True):
        line, start = at(one, "range", "start", "line"), at(one, "range", "start", "character")
        end, new = at(one, "range", "end", "character"), at(one, "newText")
        assert isinstance(line, int) and isinstance(start, int) and isinstance(end, int)
        assert isinstance(new, str)
        lines[line] = lines[line][:start] + new + lines[line][end:]
    return "\n".join(lines)


def test_findings(client: Connection) -> None:
    found = rows(at(client.request("textDocument/diagnostic", of_file(URI)), "items"))
    assert [(at(one, "code"), shown(at(one, "range"))) for one in found] == [("wrong-modifier", ".u23")]


@pytest.mark.parametrize(
    ("what", "skip", "told", "where"),
    [
        ("%1, %2", 1, '`%1`: input, constraint `"r"`, value `a`', "%1"),
        ('"=r"', 1, '`%0`: output, constraint `"=r"`, result goes to `c`', "c"),
        ("%%t, %1", 2, ".reg .b32 %t", "%%t"),
        ("add.u32", 1, "Adds two integers", "add.u32"),
    ],
)
def test_hover(client: Connection, what: str, skip: int, told: str, where: str) -> None:
    found = ask(client, "hover", what, skip)
    assert told in str(at(found, "contents", "value"))
    assert shown(at(found, "range")) == where


def test_a_block_is_shown_without_the_function_made_of_it(client: Connection) -> None:
    told = str(at(ask(client, "hover", "%%t, %1", 2), "contents", "value"))
    assert "line" not in told and "warp" not in told and "$__" not in told


def test_completion_tells_what_the_host_passes(client: Connection) -> None:
    found = items(client, "%1, %2", 1)
    assert at(found["%2"], "detail") == '.b32 "r" b + 1'
    assert at(found["%2"], "textEdit", "newText") == "%2"
    assert not any(str(label).startswith("$__") for label in found)


def test_completion_is_written_as_the_host_writes_it(client: Connection) -> None:
    found = items(client, "%%t, %1", 2)["%t"]
    assert (at(found, "textEdit", "newText"), at(found, "filterText")) == ("%%t", "%%t")


def test_completion_of_modifiers_has_documentation(client: Connection) -> None:
    found = items(client, "add.u32", 4)[".u32"]
    resolved = client.request("completionItem/resolve", found)
    assert "32-bit" in str(at(resolved, "documentation", "value"))


def test_signature(client: Connection) -> None:
    found = ask(client, "signatureHelp", "%1, %2", 1)
    assert at(found, "activeParameter") == 1
    assert "add" in str(at(found, "signatures", 0, "label"))


def test_definition_of_an_operand_is_what_the_host_passes(client: Connection) -> None:
    found = ask(client, "definition", "%2;", 1)
    assert [shown(at(one, "range")) for one in rows(found)] == ["b + 1"]


@pytest.mark.parametrize("what", ["(a), ", '"r"(a)', "%1, %2"])
def test_references_of_an_operand(client: Connection, what: str) -> None:
    """From its expression, its constraint and its uses."""
    found = ask(client, "references", what, 1, context={"includeDeclaration": True})
    assert [shown(at(one, "range")) for one in rows(found)] == ["a", "%1", "%1"]


def test_highlights(client: Connection) -> None:
    found = ask(client, "documentHighlight", "%%t, %1", 2)
    assert [shown(at(one, "range")) for one in rows(found)] == ["%%t"] * 3


def test_what_is_passed_belongs_to_the_host(client: Connection) -> None:
    assert ask(client, "documentHighlight", "(a), ", 1) is None
    assert ask(client, "hover", "(a), ", 1) is None


def test_renaming_a_register(client: Connection) -> None:
    found = ask(client, "rename", "%%t, %1", 2, newName="%sum")
    changes = at(found, "changes", URI) or at(found, "documentChanges", 0, "edits")
    assert edited(TEXT, changes) == TEXT.replace("%%t", "%%sum")


def test_operands_are_not_renamed(client: Connection) -> None:
    assert ask(client, "prepareRename", "%1, %2", 1) is None
    with pytest.raises(ResponseError, match="operand"):
        ask(client, "rename", "%1, %2", 1, newName="%x")


def test_fixes(client: Connection) -> None:
    place = position(TEXT, "u23")
    found = client.request(
        "textDocument/codeAction",
        of_file(URI, range={"start": place, "end": place}, context={"diagnostics": []}),
    )
    by_title = {at(one, "title"): at(one, "edit") for one in rows(found)}
    for title, wanted in (
        ("Replace with `.u32`", TEXT.replace(".u23", ".u32")),
        (
            "Ignore `wrong-modifier` on this line",
            TEXT.replace('%1;\\n\\t"\n      "}', '%1;\\n\\t"  // ptx-lint: ignore[wrong-modifier]\n      "}'),
        ),
    ):
        edit = by_title[title]
        assert edited(TEXT, at(edit, "changes", URI) or at(edit, "documentChanges", 0, "edits")) == wanted


def test_semantic_tokens(client: Connection) -> None:
    data = rows(at(client.request("textDocument/semanticTokens/full", of_file(URI)), "data"))
    line = column = 0
    words: list[str] = []
    for index in range(0, len(data), 5):
        down, right, length = data[index : index + 3]
        assert isinstance(down, int) and isinstance(right, int) and isinstance(length, int)
        line, column = line + down, right + (0 if down else column)
        words.append(TEXT.split("\n")[line][column : column + length])
    assert words == [
        ".reg", ".b32", "%%t", "add", ".u32", "%%t", "%1", "%2", "mul", ".lo", ".u23", "%0", "%%t", "%1",
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["hover", "completion", "definition", "references", "signatureHelp"])
def test_no_answer_outside_of_blocks(client: Connection, method: str) -> None:
    more: dict[str, Json] = {"context": {"includeDeclaration": True}} if method == "references" else {}
    assert ask(client, method, "return", 3, **more) is None


def test_the_rest_of_the_file_belongs_to_others(client: Connection) -> None:
    whole: Json = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    asked: dict[str, dict[str, Json]] = {
        "documentSymbol": {}, "foldingRange": {}, "codeLens": {}, "documentLink": {},
        "inlayHint": {"range": whole}, "formatting": {"options": {"tabSize": 4, "insertSpaces": True}},
        "rangeFormatting": {"range": whole, "options": {"tabSize": 4, "insertSpaces": True}},
        "selectionRange": {"positions": [position(TEXT, "add.u32")]},
    }  # fmt: skip
    for method, more in asked.items():
        assert client.request(f"textDocument/{method}", of_file(URI, **more)) is None, method


def test_an_edit_is_checked_where_findings_are_pushed() -> None:
    with Connection.of_editor("eglot-1.9") as client:
        client.open(URI, TEXT, language="cuda")
        assert [at(one, "code") for one in client.first_findings(URI, 1)] == ["wrong-modifier"]
        start = position(TEXT, "23 %0")
        end = position(TEXT, "23 %0", 2)
        client.change(URI, 2, [{"range": {"start": start, "end": end}, "text": "32"}])
        assert client.first_findings(URI, 2) == []
        client.close(URI)
        client.wait_until(lambda: client.published(URI, None) == [])


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"inline": {"enabled": False}}, 0),
        ({"inline": {"off": ["cuda"]}}, 0),
        ({"inline": {"off": ["triton"]}}, 1),
        ({"ignore": ["wrong-modifier"]}, 0),
    ],
)
def test_settings(options: Json, count: int) -> None:
    with Connection.of_editor("eglot-1.9", options=options) as client:
        client.open(URI, TEXT, language="cuda")
        assert len(client.first_findings(URI, 1)) == count


def test_comments_suppress() -> None:
    text = TEXT.replace('%1;\\n\\t"\n      "}', '%1;\\n\\t"  // ptx-lint: ignore[wrong-modifier]\n      "}')
    with Connection.of_editor("eglot-1.9") as client:
        client.open(URI, text, language="cuda")
        assert client.first_findings(URI, 1) == []


@pytest.mark.parametrize(
    ("name", "language"), [("k.txt", "cuda-cpp"), ("k.cu", "plaintext"), ("k.hpp", "cpp")]
)
def test_languages(name: str, language: str) -> None:
    """By what the client says, else by the name of the file."""
    with Connection.of_editor("eglot-1.9") as client:
        client.open(f"file:///work/{name}", TEXT, language=language)
        assert len(client.first_findings(f"file:///work/{name}", 1)) == 1
