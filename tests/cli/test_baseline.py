"""Baselines: what is known is hidden, what is new is shown, what became better is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import HEADER, Lint

TWO = (
    f"{HEADER}.entry one() {{ bra X; }}\n.entry two() {{ bra X; bra Y; }}\n"
)
USING = ("--baseline", "ci/known.json", "--format", "concise")


@pytest.fixture
def k(lint: Lint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with three findings, all of which are known."""
    monkeypatch.chdir(tmp_path)
    Path("ci").mkdir()
    Path("k.ptx").write_text(TWO)
    done = lint("--update-baseline", "--reason", "from the vendor", "--baseline", "ci/known.json", "k.ptx")
    assert (done.status, done.err) == (0, "")
    assert "Wrote 3 findings to ci/known.json." in done.out
    return Path("k.ptx")


def test_what_is_in_it(k: Path) -> None:
    whole = json.loads(Path("ci/known.json").read_text())
    assert whole["findings"] == [
        {
            "file": "../k.ptx", "kernel": kernel, "rule": "undeclared-name", "count": count,
            "reason": "from the vendor",
        }
        for kernel, count in (("one", 1), ("two", 2))
    ]


def test_known_findings_are_hidden(lint: Lint, k: Path) -> None:
    assert lint(*USING, k) == (0, "", "")
    out = lint("--baseline", "ci/known.json", k).out
    assert out == "3 known findings hidden by the baseline.\nAll checks passed: 1 file.\n"
    assert lint("--baseline", "ci/known.json", "--no-baseline", k).status == 1


def test_lines_do_not_matter(lint: Lint, k: Path) -> None:
    k.write_text(TWO.replace(".entry one", "\n\n// more\n.entry one").replace("bra Y", "\n\tbra\n Y"))
    assert lint(*USING, "--ratchet", k) == (0, "", "")


def test_a_group_that_grows_is_shown_whole(lint: Lint, k: Path) -> None:
    k.write_text(TWO.replace("bra Y;", "bra Y; bra Z;"))
    done = lint(*USING, k)
    assert done.status == 1
    assert done.out.count("\n") == 3
    told = lint("--baseline", "ci/known.json", k).out
    assert told.count("3 findings of this kind, but the baseline allows 2") == 3


def test_another_kernel_is_new(lint: Lint, k: Path) -> None:
    k.write_text(TWO + ".entry three() { bra X; }\n")
    assert lint(*USING, k).out == "k.ptx:6:22: error[undeclared-name] `X` is not declared\n"


def test_improvements(lint: Lint, k: Path) -> None:
    k.write_text(TWO.replace("bra Y;", "").replace("one() { bra X; }", "one() { ret; }"))
    done = lint("--baseline", "ci/known.json", k)
    assert done.status == 0
    assert (
        "Improved: ../k.ptx in `two` has 1 `undeclared-name`, but the baseline allows 2; "
        "--update-baseline records the improvement." in done.out
    )
    assert "in `one` has no `undeclared-name`, but the baseline allows 1;" in done.out
    assert lint(*USING, "--ratchet", k).status == 1
    assert lint(*USING, "--ratchet", "--select", "E102", k).status == 0  # what did not run is not better
    lint(*USING, "--update-baseline", k)
    (left,) = json.loads(Path("ci/known.json").read_text())["findings"]
    assert (left["count"], left["reason"]) == (1, "from the vendor")
    assert lint(*USING, "--ratchet", k) == (0, "", "")


def test_an_update_keeps_what_it_did_not_look_at(lint: Lint, k: Path) -> None:
    Path("other.ptx").write_text(f"{HEADER}bra X;\n")
    lint(*USING, "--update-baseline", "other.ptx")
    rows = json.loads(Path("ci/known.json").read_text())["findings"]
    assert {(row["file"], row["reason"]) for row in rows} == {
        ("../k.ptx", "from the vendor"), ("../other.ptx", "known when the baseline was made"),
    }
    k.unlink()
    lint(*USING, "--update-baseline", "other.ptx")
    rows = json.loads(Path("ci/known.json").read_text())["findings"]
    assert {row["file"] for row in rows} == {"../other.ptx"}


def test_in_the_configuration(lint: Lint, k: Path) -> None:
    Path("ptx-lint.toml").write_text('baseline = "ci/known.json"\n')
    assert lint(k).status == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "baseline `b.json` does not exist; create it with --update-baseline"),
        ("{", "is not a valid baseline: not JSON"),
        ("[]", "is not a valid baseline: not a baseline of version 1"),
        pytest.param("[" * 100_000, "is not a valid baseline: nested too deeply", id="deep"),
        ('{"version": 2, "findings": []}', "is not a valid baseline: not a baseline of version 1"),
        ('{"version": 1, "findings": [{"file": "a"}]}', "finding 1 lacks one of `file`"),
        ('{"version": 1}', "finding 1 lacks"),
    ],
)
def test_what_is_no_baseline(lint: Lint, k: Path, text: str | None, said: str) -> None:
    if text is not None:
        Path("b.json").write_text(text)
    done = lint("--baseline", "b.json", k)
    assert done.status == 2
    assert said in done.err


def test_none_is_named(lint: Lint, k: Path) -> None:
    assert "no baseline file" in lint("--update-baseline", k).err


def test_findings_of_a_file_that_is_gone_are_gone(lint: Lint, k: Path) -> None:
    Path("other.ptx").write_text(f"{HEADER}bra X;\n")
    lint(*USING, "--update-baseline", "other.ptx")
    assert lint(*USING, "--ratchet", k) == (0, "", "")  # it is there, and was not looked at
    Path("other.ptx").unlink()
    done = lint("--baseline", "ci/known.json", "--ratchet", k)
    assert done.status == 1
    assert "Improved: ../other.ptx has no `" in done.out
    lint(*USING, "--update-baseline", k)
    assert lint(*USING, "--ratchet", k) == (0, "", "")
