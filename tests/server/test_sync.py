"""The text that the server has is the text that the client has, and so are the findings."""

from __future__ import annotations

import pytest

from tests.server.connection import Connection, Json, at, of_file, position

URI = "file:///kernel.ptx"
WRONG = """.version 8.5
.target sm_90
.address_size 64
.entry f() {
  .reg .u32 %r1;
  add.s32 %r2, 1, 2;
  ret;
}
"""


def rules(findings: list[Json]) -> list[Json]:
    return [at(one, "code") for one in findings]


def edit(start: Json, end: Json, text: str) -> Json:
    return {"range": {"start": start, "end": end}, "text": text}


def test_findings_come_and_go() -> None:
    with Connection() as client:
        client.open(URI, WRONG)
        found = client.findings(URI, 1)
        assert "undeclared-name" in rules(found)
        wrong = next(one for one in found if at(one, "code") == "undeclared-name")
        assert at(wrong, "range") == {
            "start": {"line": 5, "character": 10}, "end": {"line": 5, "character": 13},
        }  # fmt: skip
        client.change(URI, 2, [edit(position(WRONG, "%r2", 2), position(WRONG, "%r2", 3), "1")])
        assert "undeclared-name" not in rules(client.findings(URI, 2))
        client.close(URI)
        client.wait_until(lambda: client.published(URI, None) == [])


@pytest.mark.parametrize(("unit", "width"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)])
def test_columns_are_as_negotiated(unit: str, width: int) -> None:
    """U+00E9 and U+1F600 are 2 and 4 bytes, 1 and 2 UTF-16 units, 1 and 1 code points."""
    text = WRONG.replace("  ret;", "/*\u00e9\U0001f600*/ add.s32 %q, 1, 2;")
    with Connection({"general": {"positionEncodings": [unit]}}) as client:
        assert at(client.server, "capabilities", "positionEncoding") == unit
        client.open(URI, text)
        found = [one for one in client.findings(URI, 1) if "%q" in str(at(one, "message"))]
        assert at(found[0], "range", "start", "character") == 2 + width + 2 + 1 + 8
        start, end = ({"line": 6, "character": 2 + column} for column in (0, width))
        client.change(URI, 2, [edit(start, end, "")])
        found = [one for one in client.findings(URI, 2) if "%q" in str(at(one, "message"))]
        assert at(found[0], "range", "start", "character") == 2 + 2 + 1 + 8


def test_lines_end_as_in_lsp() -> None:
    """Form feed and U+2028 end no line; a column beyond a line is its end, a line beyond the text its end."""
    text = WRONG.replace("  ret;", "  /* a\f b \u2028 c */\r  ret;")
    with Connection() as client:
        client.open(URI, text)
        changes = [
            edit({"line": 7, "character": 99}, {"line": 7, "character": 99}, " add.s32 %q, 1, 2;"),
            edit({"line": 99, "character": 0}, {"line": 99, "character": 0}, "// the end"),
        ]
        client.change(URI, 2, changes)
        found = [one for one in client.findings(URI, 2) if "%q" in str(at(one, "message"))]
        assert at(found[0], "range", "start") == {"line": 7, "character": 6 + 9}


def test_the_whole_text_can_be_replaced_and_versions_can_be_skipped() -> None:
    with Connection() as client:
        client.open(URI, WRONG)
        client.change(URI, 7, [{"text": "nonsense"}, {"text": WRONG}])
        assert "undeclared-name" in rules(client.findings(URI, 7))
        client.change(URI, 8, [])
        assert "undeclared-name" in rules(client.findings(URI, 8))


def test_findings_are_of_the_last_text_however_fast_one_types() -> None:
    with Connection() as client:
        client.open(URI, WRONG)
        for version in range(2, 60):
            place = position(WRONG, "1, 2")
            client.change(URI, version, [edit(place, place, "1")])
        found = client.findings(URI, 59)
        told = [at(one, "params", "version") for one in client.notified]
        versions = [one for one in told if isinstance(one, int)]
        assert versions == sorted(versions), "an older text after a newer one"
        assert "undeclared-name" in rules(found)


def test_errors_of_syntax_come_first_in_a_large_file() -> None:
    kernel = ".entry k%d() {\n  .reg .b32 %%r<9>;\n" + "  add.s32 %%r1, %%r2, %%r3;\n" * 400 + "}\n"
    text = WRONG.replace("add.s32 %r2, 1, 2;", "add.s32 %r2, ,;") + "".join(kernel % n for n in range(30))
    with Connection() as client:
        client.open(URI, text)
        assert set(map(str, rules(client.first_findings(URI, 1)))) == {"syntax-error"}
        assert "uninitialised-read" in rules(client.findings(URI, 1))
    pulls: Json = {
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostics": {"refreshSupport": True}},
    }
    with Connection(pulls) as client:
        client.open(URI, text)
        first = at(client.request("textDocument/diagnostic", of_file(URI)), "items")
        assert isinstance(first, list)
        assert set(map(str, rules(first))) == {"syntax-error"}
        refresh = "workspace/diagnostic/refresh"
        client.wait_until(lambda: any(one["method"] == refresh for one in client.asked))
        everything = at(client.request("textDocument/diagnostic", of_file(URI)), "items")
        assert isinstance(everything, list)
        assert "uninitialised-read" in rules(everything)


def test_a_version_of_which_something_is_published_early_is_waited_for() -> None:
    with Connection(is_hasty=True) as client:
        client.open(URI, WRONG.replace("%r2, 1", "%r1, %r1"))
        assert "uninitialised-read" not in rules(client.first_findings(URI, 1))
        assert "uninitialised-read" in rules(client.findings(URI, 1))


def test_pull_says_what_has_not_changed() -> None:
    with Connection({"textDocument": {"diagnostic": {}}}) as client:
        client.open(URI, WRONG)
        first = client.request("textDocument/diagnostic", of_file(URI))
        assert at(first, "kind") == "full"
        asked = of_file(URI, previousResultId=at(first, "resultId"))
        assert at(client.request("textDocument/diagnostic", asked), "kind") == "unchanged"
        client.change(URI, 2, [{"text": WRONG.replace("%r2", "%r1")}])
        again = client.request("textDocument/diagnostic", asked)
        assert at(again, "kind") == "full"
        items = at(again, "items")
        assert isinstance(items, list)
        assert "undeclared-name" not in rules(items)
        assert not [one for one in client.notified if "publishDiagnostics" in str(one.get("method"))]


@pytest.mark.parametrize("way", ["publishDiagnostics", "diagnostic"])
def test_what_is_unneeded_or_deprecated_is_marked_for_clients_that_show_it(way: str) -> None:
    text = WRONG.replace("sm_90", "sm_60").replace("%r1;", "%r1, %r2;")
    text = text.replace("add.s32", "L: shfl.down.b32 %r2, %r2, 1, 31; add.s32")
    for can, marked in ((dict[str, Json](), False), ({"tagSupport": {"valueSet": [1, 2]}}, True)):
        with Connection({"textDocument": {way: can}}, is_hasty=True) as client:
            client.open(URI, text)
            found = _found(client, way)
            tags = {at(one, "code"): at(one, "tags") for one in found}
            assert tags["unused-register"] == tags["unused-label"] == ([1] if marked else None)
            assert tags["deprecated-form"] == ([2] if marked else None)


@pytest.mark.parametrize("way", ["publishDiagnostics", "diagnostic"])
def test_other_places_are_told_in_the_message_where_the_client_shows_them_nowhere_else(way: str) -> None:
    text = WRONG.replace(".reg .u32 %r1;", ".reg .u32 %r2;\n  .reg .u32 %r2;")
    told: list[tuple[Json, Json]] = []
    for can in (dict[str, Json](), {"relatedInformation": True}):
        with Connection({"textDocument": {way: can}}) as client:
            client.open(URI, text)
            [one] = [one for one in _found(client, way) if at(one, "code") == "duplicate-name"]
            told.append((at(one, "message"), at(one, "relatedInformation", 0, "message")))
    (alone, nothing), (message, related) = told
    assert nothing is None
    assert alone == f"{message}\nline 5: {related}"


def _found(client: Connection, way: str) -> list[Json]:
    if way == "publishDiagnostics":
        return client.findings(URI, 1)
    items = at(client.request("textDocument/diagnostic", of_file(URI)), "items")
    return items if isinstance(items, list) else []
