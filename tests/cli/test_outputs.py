"""Every format, read by what reads it: schemas, models made of schemas, parsers, grammars."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import jsonschema
import pytest
import xmlschema

from ptx_lsp.lint.results.report import FileReport
from ptx_lsp.lint.results.reporter import Reporter, Run, reporters
from tests.cli.conftest import BAD, HEADER, Lint


class Model(Protocol):
    """What pydantic makes of a schema: refuses what the schema refuses, and unknown keys."""

    model_config: dict[str, str]

    def model_validate_json(self, text: str, /) -> object: ...


Sarif: Model = import_module("pydantic_sarif.model").StaticAnalysisResultsFormatSarifVersion210JsonSchema


class Case(Protocol):
    """A test, as junitparser reads it."""

    result: list[Outcome]


class Outcome(Protocol):
    text: str | None


class Suite(Protocol):
    """The tests of one file."""

    name: str
    tests: int
    failures: int
    errors: int

    def __iter__(self) -> Iterator[Case]: ...


read_junit: Callable[[bytes], Iterable[Suite]] = import_module("junitparser").JUnitXml.fromstring
HERE = Path(__file__).parent
TROUBLE = (
    '.file 1 "k.cu"\n.file 2 "/elsewhere/l.cuh"\n'
    ".entry k(.param .u64 unused)\n{\n\t.reg .b32 %r<4>;\n"
    "\t.loc 1 12 5\n\tmov.b32\t%r1, %r9;\n"
    "\t{\n\t.loc 2 7\n\tmov.b32 %r2, %r9; // \u00e9\u6ea2 100% <&\x01\"'>\n\t}\n"
    "\tadd.s32 %r1, %r1, 1\n\tret;\n}\n"
    "bra X;\n"
)
"""Two errors with a source line and a guess, one with a safe fix, one outside of functions, and a warning."""


@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("sub dir/k,1:%.ptx")
    path.parent.mkdir()
    path.write_text(HEADER + TROUBLE, encoding="utf-8")
    (tmp_path / "k.cu").write_text("// where it came from\n")
    return path


@pytest.fixture
def choice(tmp_path: Path) -> Path:
    """One error with two fixes that are equally good."""
    path = tmp_path / "choice.ptx"
    path.write_text(f"{HEADER}.entry k() {{ .reg .b32 %r; mov.u32 %r, 1; min.b32 %r, %r, 2; ret; }}\n")
    return path


def test_json_tells_alternatives_apart_from_the_fix(lint: Lint, choice: Path) -> None:
    ((one,),) = (file["diagnostics"] for file in json.loads(report(lint, "json", choice))["files"])
    assert one["fix"] is None
    assert [fix["edits"][0]["text"] for fix in one["alternatives"]] == [".u32", ".s32"]


def report(lint: Lint, form: str, *paths: Path) -> str:
    done = lint("--format", form, *paths)
    assert done.status in (1, 2), done
    return done.out


class TestSarif:
    def test_model_of_the_schema(self, lint: Lint, trouble: Path) -> None:
        text = report(lint, "sarif", trouble, Path("absent.ptx"))
        Sarif.model_validate_json(text)
        assert Sarif.model_config.get("extra") == "forbid"
        (run,) = json.loads(text)["runs"]
        assert run["invocations"][0]["executionSuccessful"] is False
        assert len(run["results"]) == 5

    def test_alternatives_are_fixes(self, lint: Lint, choice: Path) -> None:
        (result,) = json.loads(report(lint, "sarif", choice))["runs"][0]["results"]
        told = [fix["description"]["text"] for fix in result["fixes"]]
        assert told == ["Replace with `.u32`", "Replace with `.s32`"]

    def test_places(self, lint: Lint, trouble: Path) -> None:
        results = json.loads(report(lint, "sarif", trouble))["runs"][0]["results"]
        names = [one for one in results if one["ruleId"] == "undeclared-name"]
        first, second = (one["locations"][0]["physicalLocation"] for one in names[:2])
        assert first == {
            "artifactLocation": {"uri": "k.cu", "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": 12, "startColumn": 5},
        }
        assert second["artifactLocation"] == {"uri": "file:///elsewhere/l.cuh"}
        related = names[0]["relatedLocations"][0]["physicalLocation"]
        assert related["artifactLocation"]["uri"] == "sub%20dir/k%2C1%3A%25.ptx"
        assert related["region"]["startLine"] == 10
        assert names[0]["locations"][0]["logicalLocations"] == [{"name": "k", "kind": "function"}]
        (syntax,) = (one for one in results if one["ruleId"] == "syntax-error" and "fixes" in one)
        assert syntax["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"] == {
            "text": ";"
        }

    def test_rules_are_those_with_results(self, lint: Lint, trouble: Path) -> None:
        run = json.loads(report(lint, "sarif", trouble))["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        assert {rule["id"] for rule in rules} == {one["ruleId"] for one in run["results"]}
        assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
        assert all(rule["help"]["markdown"] for rule in rules)


class TestFingerprints:
    def read(self, lint: Lint, path: Path) -> list[tuple[str, str]]:
        lines = report(lint, "json-lines", path).splitlines()
        found = [cast(dict[str, str], json.loads(line)) for line in lines]
        return [(one["rule"], one["fingerprint"]) for one in found]

    def test_they_are_all_different(self, lint: Lint, trouble: Path) -> None:
        found = self.read(lint, trouble)
        assert len(set(found)) == len(found)

    def test_moved_lines_and_new_register_numbers(self, lint: Lint, trouble: Path) -> None:
        before = self.read(lint, trouble)
        text = trouble.read_text(encoding="utf-8")
        text = text.replace(".file 1", "// one\n// more\n.file 1").replace("\tmov", "\t\t mov")
        trouble.write_text(text.replace("%r2, %r9", "%r3, %r8"), encoding="utf-8")
        assert self.read(lint, trouble) == before

    def test_another_function_is_another_finding(self, lint: Lint, trouble: Path) -> None:
        before = set(self.read(lint, trouble))
        trouble.write_text(trouble.read_text().replace(".entry k(", ".entry other("))
        assert not {one for one in before & set(self.read(lint, trouble)) if "name" in one[0]} - {
            one for one in before if one[0] == "not-ptx"
        }


_ANNOTATION = re.compile(
    r"::(?P<command>error|warning|notice)"
    r" (?P<properties>[a-zA-Z]+=[^,:\r\n]*(?:,[a-zA-Z]+=[^,:\r\n]*)*)::(?P<message>[^\r\n]*)"
)
"""The workflow commands of GitHub: values escape `%`, line ends, `:` and `,`."""


def test_github(lint: Lint, trouble: Path) -> None:
    out = report(lint, "github", trouble, Path("absent.ptx"))
    found = [_ANNOTATION.fullmatch(line) for line in out.splitlines()]
    assert all(found)
    told = [
        dict(part.split("=", 1) for part in match["properties"].split(",")) | {"": match["message"]}
        for match in found
        if match is not None
    ]
    from_source = [one for one in told if one["file"] == "k.cu"]
    assert from_source[0]["line"] == "12"
    assert "(sub dir/k,1:%25.ptx:10:" in from_source[0][""]
    (elsewhere,) = (one for one in told if one["title"].endswith("undeclared-name") and "col" in one)
    assert elsewhere["file"] == "sub dir/k%2C1%3A%25.ptx"
    assert elsewhere["line"] == elsewhere["endLine"] == "13"
    assert int(elsewhere["col"]) <= int(elsewhere["endColumn"])
    assert told[-1][""] == "no such file or directory"


def test_gitlab(lint: Lint, trouble: Path) -> None:
    rows = json.loads(report(lint, "gitlab", trouble, Path("absent.ptx")))
    jsonschema.validate(rows, json.loads((HERE / "gitlab.schema.json").read_text()))
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    assert rows[-1]["check_name"] == "unreadable"


def test_junit(lint: Lint, trouble: Path) -> None:
    good = trouble.with_name("good.ptx")
    good.write_text(HEADER)
    text = report(lint, "junit", trouble, good, Path("absent.ptx"))
    xmlschema.XMLSchema(HERE / "junit.xsd").validate(text.encode())
    suites = list(read_junit(text.encode()))
    assert [suite.name for suite in suites] == [str(trouble), str(good), "absent.ptx"]
    assert [(suite.tests, suite.failures, suite.errors) for suite in suites[1:]] == [
        (1, 0, 0), (1, 0, 1),
    ]
    cases = list(suites[0])
    assert len(cases) == suites[0].tests == suites[0].failures
    assert any("100% <&\ufffd\"'>" in (case.result[0].text or "") for case in cases)


def test_rdjson(lint: Lint, trouble: Path) -> None:
    told = json.loads(report(lint, "rdjson", trouble))
    jsonschema.validate(told, json.loads((HERE / "rdjson.schema.json").read_text()))
    fixed = [one["suggestions"][0]["text"] for one in told["diagnostics"] if "suggestions" in one]
    assert fixed == ["10", "10", ";"]
    assert told["source"] == {"name": "ptx-lint"}


def test_rdjson_counts_bytes(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEADER}.entry k() {{ /* \u00e9\u6ea2 */ bra X; }}\n", encoding="utf-8")
    (found,) = json.loads(report(lint, "rdjson", path))["diagnostics"]
    line = path.read_bytes().splitlines()[3]
    start = found["location"]["range"]["start"]["column"]
    end = found["location"]["range"]["end"]["column"]
    assert line[start - 1 : end - 1] == b"X"


def test_markdown(lint: Lint, trouble: Path) -> None:
    from markdown_it import MarkdownIt

    out = report(lint, "markdown", trouble, Path("absent.ptx"))
    tokens = MarkdownIt("commonmark").enable("table").parse(out)
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 2
    heads = sum(kind == "th_open" for kind in kinds)
    rows = kinds.count("tr_open") - 2
    assert heads == 4 + 6
    assert rows == len(report(lint, "json-lines", trouble).splitlines()) + 1
    assert "`absent.ptx`: no such file or directory" in out


def test_markdown_of_names_with_markup(lint: Lint, trouble: Path) -> None:
    """A page shows names as they are, whatever they have in them."""
    from markdown_it import MarkdownIt

    names = ["a`b.ptx", "a``<b>.ptx"] if sys.platform == "win32" else ["a`b.ptx", "a``<b>|c.ptx", "`.ptx"]
    for name in names:
        Path(name).write_bytes(trouble.read_bytes())
        out = report(lint, "markdown", Path(name), Path("`absent`.ptx"))
        tokens = MarkdownIt("commonmark").enable("table").parse(out)
        spans = {one.content for token in tokens for one in token.children or () if one.type == "code_inline"}
        assert "`absent`.ptx" in spans
        places = {span.rpartition(":")[0] for span in spans if ".ptx:" in span}
        assert places == {name}
        assert "%r<4>" in spans
        assert "&lt;" not in "".join(spans)


def test_statistics(lint: Lint, trouble: Path) -> None:
    out = report(lint, "statistics", trouble)
    assert re.search(r"^ *\d+  E101   error\[undeclared-name\] \(2 with a fix\)$", out, re.MULTILINE)
    assert re.search(r"^ *2  E100   error\[syntax-error\] \(1 with a fix\)$", out, re.MULTILINE)
    assert lint("--statistics", trouble).out == out


def test_several_at_once(lint: Lint, trouble: Path) -> None:
    done = lint(
        "--format", "sarif=out.sarif", "--format", "concise", "--output-format", "junit=out.xml", trouble
    )
    assert done.out == report(lint, "concise", trouble)
    Sarif.model_validate_json(Path("out.sarif").read_text())
    assert Path("out.xml").read_text() == report(lint, "junit", trouble)


@pytest.mark.parametrize(
    "options",
    [
        ["--format", "json=out", "--format", "sarif=./out"],
        ["--format", "json=out", "--output", "out"],
        ["--report", "out", "--output", "out"],
        ["--format", "json=bad.ptx"],
        ["--output", "link"],
        ["--baseline", "out", "--update-baseline", "--output", "out"],
        ["--config", "ptx-lint.toml", "--output", "ptx-lint.toml"],
    ],
)
def test_no_report_overwrites_another_one_or_an_input(
    lint: Lint, bad: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.chdir(bad.parent)
    Path("link").symlink_to(bad)
    Path("ptx-lint.toml").touch()
    done = lint(*options, bad)
    assert done.status == 2
    assert f"`{options[-1].rpartition('=')[2]}` is already an input or an output" in done.err
    assert bad.read_text() == BAD
    assert not Path("out").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a device that is always full")
@pytest.mark.parametrize(
    "words", [["k.ptx"], ["--diff", "k.ptx"], ["--fix", "-"], ["config", "schema"], ["man"]], ids=" ".join
)
def test_standard_output_that_is_full_or_closed(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "k.ptx").write_text(BAD.replace("\tret;", "\tret"))
    full = "cannot write to standard output: No space left on device"
    for target, message in (("/dev/full", full), ("&-", "standard output is closed")):
        line = f'"$@" < k.ptx >{target}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", sys.executable, "-m", "ptx_lsp", *words],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
        )
        assert (done.returncode, done.stderr) == (2, f"ptx-lint: error: {message}\n")


def test_findings_of_some_targets_say_so(lint: Lint, tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(f"{HEADER}.entry k() {{ .reg .b32 %r; redux.sync.add.s32 %r, %r, -1; ret; }}\n")
    for name in ("sarif", "github", "gitlab", "junit", "rdjson", "markdown", "concise"):
        done = lint("--format", name, "--select", "E", "--targets", "sm_70,sm_80", path)
        assert "(sm_70 only)" in done.out, name


def test_wrong_formats(lint: Lint, trouble: Path) -> None:
    assert "did you mean `sarif`?" in lint("--format", "sarf", trouble).err
    assert "missing file name" in lint("--format", "sarif=", trouble).err
    assert "requires --cfg" in lint("--format", "svg=x", trouble).err


@pytest.mark.parametrize("name", reporters())
def test_every_format_of_nothing(name: str) -> None:
    reporter = reporters()[name]
    for files in (list[FileReport](), [FileReport("a.ptx")], [FileReport("b\udcff.ptx", error="gone")]):
        if isinstance(reporter, Reporter):
            assert all("\r" not in line for line in reporter.write(Run(files)))
            continue
        written = io.BytesIO()
        stream = reporter.open(written)
        for file in files:
            stream.add(file)
        stream.close()
        assert written.getvalue()
