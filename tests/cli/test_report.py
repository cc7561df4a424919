"""`--report`: the page is whole, needs nothing from elsewhere, and says what the JSON says."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ptx_lsp.cli.page.charts import Chart, Marked, chart
from tests.cli.conftest import BAD, HEADER, Lint
from tests.cli.test_cfg import LOOP

VOID = {"meta", "br", "hr", "link", "img", "input"}


class Page(HTMLParser):
    """Reads a page. Raises AssertionError where an element is not closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.figures: dict[tuple[str, str], dict[str, str]] = {}
        self.texts: dict[str, list[str]] = {}
        """What stands in the elements of each class."""
        self._kernel = ("", "")
        self._figure = ""
        self._classes: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        self._figure = found.get("data-figure") or ""
        if "data-kernel" in found:
            self._kernel = (found["data-kernel"] or "", found["data-target"] or "")
        if tag not in VOID:
            self.open.append(tag)
            self._classes.append(found.get("class") or tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._classes.pop()

    def handle_data(self, data: str) -> None:
        if self._classes:
            self.texts.setdefault(self._classes[-1], []).append(data)
        if self._figure:
            self.figures.setdefault(self._kernel, {})[self._figure] = data
            self._figure = ""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


def reported(lint: Lint, report: Path, *arguments: str | Path) -> Page:
    assert lint("--exit-zero", "--report", report, *arguments).status == 0
    return Page(report.read_text())


@pytest.mark.parametrize("options", [[], ["--targets", "sm_80,sm_90"], ["--threads", "96"]])
def test_the_figures_are_those_of_the_json(
    lint: Lint, report: Path, tmp_path: Path, options: list[str]
) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(f"{LOOP}.visible .entry other(.param .u64 p)\n.reqntid 64\n.maxnreg 40\n{{ ret; }}\n")
    page = reported(lint, report, *options, file)
    kernels = json.loads(lint("--format", "json", *options, file).out)["files"][0]["kernels"]
    assert len(page.figures) == len(kernels) == 2 * (1 + ("--targets" in options))
    for kernel in kernels:
        shown = page.figures[kernel["name"], kernel["target"]]
        assert {"registers.estimate", "occupancy.percent", "branches.divergent"} <= set(shown)
        for path, text in shown.items():
            value = kernel
            for name in path.split("."):
                value = value[name]
            assert float(text) == value, path
        assert ("threads_per_block" in shown) == (kernel["threads_per_block"] is not None)
        assert ("registers.limit" in shown) == (kernel["registers"]["limit"] is not None)


def test_it_needs_nothing_else(lint: Lint, report: Path, bad: Path) -> None:
    page = reported(lint, report, bad)
    for tag, attributes in page.tags:
        assert tag not in ("link", "script", "img", "iframe", "object")
        assert not any(name.startswith("on") for name in attributes)
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
    text = report.read_text()
    assert "url(" not in text and "@import" not in text
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg"}


def test_all_parts_are_there(lint: Lint, report: Path, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(LOOP)
    page = reported(lint, report, file)
    labels = [attributes.get("aria-label") or "" for tag, attributes in page.tags if tag == "svg"]
    assert [label.split(".")[0] for label in labels] == [
        "Occupancy over the size of a block", "Occupancy over registers",
        "Occupancy over shared memory", "Register pressure along the code", "Control flow of k",
    ]
    classes = [attributes.get("class") for tag, attributes in page.tags if tag == "g"]
    assert classes.count("divergent") == 1
    assert classes.count("uniform") == 1
    assert page.texts["here"][-1].startswith("peak: 2 at line ")
    anchors = {attributes.get("id") for tag, attributes in page.tags if tag == "section"}
    links = {(attributes.get("href") or "")[1:] for tag, attributes in page.tags if tag == "a"}
    assert anchors == {"k1"}
    explained = {attributes.get("id") for tag, attributes in page.tags if tag == "details"} - {None}
    assert links == anchors | explained
    assert explained == {"rule-immediate-address"}


def test_what_is_live_at_the_peak(lint: Lint, report: Path, tmp_path: Path) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(f"""{HEADER}.visible .entry k()
{{
	.reg .b32 %a;
	.reg .b64 %wide;
	mov.u32 %a, %tid.x;
	mov.u64 %wide, 8;
	st.global.u32 [%wide], %a;
	ret;
}}
""")
    page = reported(lint, report, file)
    assert "peak: 3 at line 9" in page.texts["here"]
    assert [text.strip() for text in page.texts["span"]] == ["%wide", "%a"]


def test_findings_and_their_lines(lint: Lint, report: Path, bad: Path) -> None:
    page = reported(lint, report, bad)
    assert page.texts["mark"] == ["%r9", "%r"]
    assert page.texts["number"] == ["7:15", "6:12"]
    assert page.texts["severity"] == ["error"]
    assert "undeclared-name" in page.texts["code"]
    assert any("1 kernel, 1 error" in text for text in page.texts["soft"])


def test_everything_is_escaped(lint: Lint, report: Path, tmp_path: Path) -> None:
    file = tmp_path / "<b>&\"'.ptx"
    nasty = BAD.replace("%r9", "<script>alert(1)</script>\x01&amp;\"'")
    file.write_text(nasty.replace("bad()", "bad$<img_src=x>()"))
    done = lint("--report", report, file, tmp_path / "<i>.ptx")
    assert done.status == 2  # one is missing, the page is there
    page = Page(report.read_text())
    assert {"script", "img", "b", "i"}.isdisjoint(tag for tag, _ in page.tags)
    assert any("<script>" in text for texts in page.texts.values() for text in texts)
    assert "\x01" not in report.read_text()
    assert any("no such file" in text for text in page.texts["trouble"])


def test_the_findings_are_printed_as_well(lint: Lint, report: Path, bad: Path) -> None:
    alone = lint(bad)
    assert lint("--report", report, bad) == alone


def test_several_processes_make_the_same_page(lint: Lint, report: Path, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.ptx").write_text(LOOP)
    lint("--report", report, "--jobs", "1", tmp_path)
    alone = report.read_text()
    lint("--report", report, "--jobs", "3", tmp_path)
    assert report.read_text() == alone
    assert alone.count('<section class="kernel"') == 3


def test_a_graph_that_is_too_large(
    lint: Lint, report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ptx_lsp.cli.page.kernel._MOST_BLOCKS", 3)
    file = tmp_path / "k.ptx"
    file.write_text(LOOP)
    page = reported(lint, report, file)
    assert any("Too large to draw here" in text for text in page.texts["p"])
    assert not [tag for tag, found in page.tags if found.get("class") == "flow"]


def test_wrong_usage(lint: Lint, report: Path, good: Path, tmp_path: Path) -> None:
    assert "cannot be combined with --requires" in lint("--requires", "--report", report, good).err
    done = lint("--report", tmp_path, good)
    assert done.status == 2
    assert "cannot write" in done.err


def test_without_kernels(lint: Lint, report: Path, good: Path) -> None:
    good.write_text(HEADER)
    page = reported(lint, report, good)
    assert not [tag for tag, _ in page.tags if tag in ("section", "table", "svg")]
    assert "No findings." in page.texts["p"]


def test_a_chart_keeps_its_highest_point() -> None:
    points = [(float(x), 7.0 if x == 4321 else 3.0) for x in range(10_000)]
    lines = list(chart(Chart("t", "x", "y", points, 7, Marked(4321, 7, "peak"))))
    curve = next(line for line in lines if "polyline" in line)
    heights = {pair.split(",")[1] for pair in re.findall(r"[\d.]+,[\d.]+", curve)}
    (peak,) = (m[1] for line in lines if (m := re.search(r'<circle .*cy="([\d.]+)"', line)))
    assert len(heights) == 2
    assert peak in heights
