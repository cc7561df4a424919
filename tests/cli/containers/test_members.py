"""Every command takes containers, and `CONTAINER!MEMBER`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from ptx_lsp.cli.checking import check
from ptx_lsp.cli.collecting import collect
from ptx_lsp.cli.inputs import Input
from tests.cli.conftest import BAD, GOOD, Lint
from tests.cli.containers.conftest import fat_binary, kernel, machine_code

_FINDING = "lib.fatbin!1:sm_80:7:15: error[undeclared-name] "


def test_each_member_is_checked(lint: Lint, library: Path) -> None:
    done = lint("--format", "concise", "lib.fatbin")
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith(_FINDING)
    assert done.out.count("\n") == 1
    assert lint("--show-files", "lib.fatbin").out == "lib.fatbin!1:sm_80\nlib.fatbin!2:sm_90\n"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("lib.fatbin!1:sm_80", ["1:sm_80"]), ("lib.fatbin!2", ["2:sm_90"]), ("lib.fatbin!sm_90", ["2:sm_90"]),
        ("./lib.fatbin!sm_80", ["1:sm_80"]),
    ],
)  # fmt: skip
def test_addresses(library: Path, address: str, shown: list[str]) -> None:
    found = list(collect([address], "<stdin>"))
    assert [one.member for one in found] == shown
    assert {one.file for one in found} == {address.partition("!")[0]}


def test_all_members_for_one_target(lint: Lint, library: Path) -> None:
    Path("two").write_bytes(fat_binary((90, GOOD), (80, GOOD), (90, GOOD)))
    assert lint("--show-files", "two!sm_90").out == "two!1:sm_90\ntwo!3:sm_90\n"


def test_each_member_occurs_once(lint: Lint, library: Path) -> None:
    Path("link.fatbin").symlink_to("lib.fatbin")
    done = lint("--show-files", "lib.fatbin!2", "lib.fatbin", "link.fatbin", "lib.fatbin!sm_80")
    assert done.out == "lib.fatbin!2:sm_90\nlib.fatbin!1:sm_80\n"


def test_an_existing_file_is_no_address(lint: Lint, library: Path) -> None:
    Path("lib.fatbin!2").write_text(BAD)
    assert lint("--format", "concise", "lib.fatbin!2").out.startswith("lib.fatbin!2:7:15: ")
    assert lint("--show-files", "lib.fatbin!2:sm_90").out == "lib.fatbin!2:sm_90\n"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("lib.fatbin!3", "has no member `3`; it has `1:sm_80`, `2:sm_90`"),
        ("lib.fatbin!sm_75", "has no member `sm_75`; it has `1:sm_80`, `2:sm_90`"),
        ("absent.so!1", "no such file or directory"),
        (".!1", "the folder has no file `1.ptx`"),
        ("good.ptx!1", "is a member of a file that is not a container"),
        ("code.fatbin", "holds no PTX, only machine code for sm_90"),
        ("code.fatbin!1", "holds no PTX, only machine code for sm_90"),
    ],
)
def test_what_cannot_be_read(lint: Lint, library: Path, good: Path, path: str, reason: str) -> None:
    Path("code.fatbin").write_bytes(machine_code(90))
    done = lint(path, good)
    assert done.status == 2
    assert done.err == f"ptx-lint: error: {path}: {reason}\n"
    assert done.out == "All checks passed: 1 file; 1 file could not be checked.\n"


def test_the_others_of_a_damaged_container_are_checked(lint: Lint, library: Path) -> None:
    whole = fat_binary((80, BAD), (90, GOOD))
    Path("lib.fatbin").write_bytes(whole[:-100])
    done = lint("--format", "concise", "lib.fatbin")
    assert done.status == 2
    assert done.out.startswith(_FINDING)
    assert done.err.startswith("ptx-lint: error: lib.fatbin: is truncated")
    assert done.err.count("\n") == 1


def test_a_member_that_disappears(lint: Lint, library: Path) -> None:
    """What was there when the inputs were collected may be gone when they are read."""
    (first, _) = collect(["lib.fatbin"], "<stdin>")
    Path("lib.fatbin").unlink()
    report = check.check(first, _settings())
    assert (report.path, report.error) == ("lib.fatbin!1:sm_80", "no such file or directory")
    assert report.container == "lib.fatbin"


def _settings() -> check.Settings:
    return check.Settings(check.Rules(frozenset()))


def test_standard_input(lint: Lint, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path("lib.fatbin").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    done = lint("--format", "concise", "-")
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith("<stdin>!1:sm_80:7:15: ")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data[:-100])))
    done = lint("--stdin-filename", "x.so", "--format", "json", "-")
    first, second = json.loads(done.out)["files"]
    assert (first["path"], first["container"], first["member"]) == ("x.so!1:sm_80", "x.so", "1:sm_80")
    assert (second["path"], second["container"], second["member"]) == ("x.so", "x.so", None)
    assert "truncated" in second["error"]


def test_folders_have_fat_binaries_and_other_containers_on_request(lint: Lint, library: Path) -> None:
    Path("lib.fatbin").rename("z.fatbin")
    data = fat_binary((80, GOOD), *[(90, GOOD)] * 10)
    for name in ("b.so", "program", "c.cubin"):
        Path(name).write_bytes(data if name != "c.cubin" else machine_code(90))
    Path("a.ptx").write_text(GOOD)
    Path("nothing.fatbin").write_bytes(machine_code(80))
    Path("notes.txt").write_text("no container")
    plain = "a.ptx\nz.fatbin!1:sm_80\nz.fatbin!2:sm_90\n"
    assert lint("--show-files", ".").out == plain
    names = ["b.so", "program"]
    listed = [f"{name}!{n}:sm_{80 if n == 1 else 90}" for name in names for n in range(1, 12)]
    every = "\n".join(["a.ptx", *listed, "z.fatbin!1:sm_80", "z.fatbin!2:sm_90", ""])
    assert lint("--show-files", "--containers", ".").out == every
    Path("ptx-lint.toml").write_text("containers = true\n")
    assert lint("--show-files", ".").out == every
    assert "containers = true" in lint("config", "show").out
    exclude = 'exclude = ["program", "*.so!*:sm_90", "z.fatbin!1*"]'
    Path("ptx-lint.toml").write_text(f"containers = true\n{exclude}\n")
    assert lint("--show-files", ".").out == "a.ptx\nb.so!1:sm_80\nz.fatbin!2:sm_90\n"


@pytest.mark.parametrize(
    "pattern", ["lib.fatbin", "*.fatbin", "lib.fatbin!1*", "lib.fatbin!*:sm_80", "lib.*!*"]
)
def test_patterns_match_containers_and_members(lint: Lint, library: Path, pattern: str) -> None:
    Path("ptx-lint.toml").write_text(f'[per-file-ignores]\n"{pattern}" = ["undeclared-name"]\n')
    assert lint("lib.fatbin").status == 0
    assert "undeclared-name" in lint("config", "show", "lib.fatbin!1:sm_80").out.split("\n[")[0]


@pytest.mark.parametrize("pattern", ["lib.fatbin!2*", "1:sm_80", "lib.fatbin!1"])
def test_patterns_that_match_other_members(lint: Lint, library: Path, pattern: str) -> None:
    Path("ptx-lint.toml").write_text(f'[per-file-ignores]\n"{pattern}" = ["undeclared-name"]\n')
    assert lint("lib.fatbin").status == 1


def test_comments_suppress(lint: Lint, library: Path) -> None:
    text = BAD.replace("%r9;", "%r9; // ptx-lint: ignore[undeclared-name] known")
    Path("lib.fatbin").write_bytes(fat_binary((80, text)))
    assert lint("lib.fatbin").status == 0


@pytest.mark.parametrize("option", ["--fix", "--unsafe-fixes", "--diff", "--add-ignore"])
def test_members_are_not_changed(lint: Lint, library: Path, bad: Path, option: str) -> None:
    before = Path("lib.fatbin").read_bytes(), bad.read_bytes()
    done = lint(option, "lib.fatbin!1", bad)
    assert (done.status, done.out) == (2, "")
    assert "cannot change `lib.fatbin!1:sm_80`, which is in a container" in done.err
    assert (Path("lib.fatbin").read_bytes(), bad.read_bytes()) == before
    assert {path.name for path in library.iterdir()} == {"lib.fatbin", "bad.ptx"}


@pytest.mark.parametrize("option", ["--unsafe-fixes", "--add-ignore"])
def test_only_files_of_a_folder_are_changed(lint: Lint, library: Path, bad: Path, option: str) -> None:
    before = Path("lib.fatbin").read_bytes()
    lint(option, ".")
    assert bad.read_text() != BAD
    assert Path("lib.fatbin").read_bytes() == before
    assert {path.name for path in library.iterdir()} == {"lib.fatbin", "bad.ptx"}


def test_a_report_does_not_overwrite_a_container(lint: Lint, library: Path) -> None:
    before = Path("lib.fatbin").read_bytes()
    done = lint("lib.fatbin!1", "--output", "lib.fatbin")
    assert "`lib.fatbin` is already an input" in done.err
    assert Path("lib.fatbin").read_bytes() == before


def test_the_cache_knows_members(lint: Lint, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By their texts: in another container they have the same reports, with their own paths."""
    monkeypatch.delenv("PTX_LINT_NO_CACHE")
    arguments = ("--cache-dir", "cache", "--format", "json")
    first = lint(*arguments, "lib.fatbin")
    Path("copy.so").write_bytes(fat_binary((90, GOOD.replace("sm_80", "sm_90")), (80, BAD)))

    def unexpected(one: Input, settings: object) -> None:
        raise AssertionError(one.path)

    monkeypatch.setattr("ptx_lsp.cli.checking.jobs.check", unexpected)
    monkeypatch.setattr(check, "check", unexpected)
    assert lint(*arguments, "lib.fatbin") == first
    files = json.loads(lint(*arguments, "copy.so").out)["files"]
    assert [(one["path"], one["container"], len(one["diagnostics"])) for one in files] == [
        ("copy.so!1:sm_90", "copy.so", 0), ("copy.so!2:sm_80", "copy.so", 1),
    ]


def test_several_processes(lint: Lint, library: Path) -> None:
    Path("many.so").write_bytes(fat_binary(*((80, kernel(f"k{n}", 80)) for n in range(30)), (80, BAD)))
    one, two = (lint("--jobs", str(jobs), "--no-cache", "--format", "json", "many.so") for jobs in (1, 2))
    assert one == two
    assert one.status == 1


def test_costs_come_from_the_headers(library: Path) -> None:
    assert [one.size for one in collect(["lib.fatbin"], "<stdin>")] == [
        len(BAD) + -len(BAD) % 8, len(GOOD) + -len(GOOD) % 8
    ]


def test_budgets_hold_in_containers(lint: Lint, library: Path) -> None:
    Path("ptx-lint.toml").write_text('ignore = ["E1"]\n[budgets]\n"b*" = ["registers <= 1"]\n')
    done = lint("--format", "concise", "lib.fatbin")
    assert done.out.count("error[over-budget]") == done.out.count("\n") == 1
    assert done.out.startswith("lib.fatbin!1:sm_80:4:17: ")


def test_baselines_count_by_member(lint: Lint, library: Path) -> None:
    arguments = ("--baseline", "known.json", "lib.fatbin")
    assert lint("--update-baseline", *arguments).status == 0
    known = json.loads(Path("known.json").read_text())["findings"]
    assert [one["file"] for one in known] == ["lib.fatbin!1:sm_80"]
    assert "1 known finding hidden" in lint(*arguments).out
    other = ("--ratchet", "--baseline", "known.json", "lib.fatbin!2")
    assert lint(*other).status == 0, "the member is still there"
    Path("lib.fatbin").write_bytes(fat_binary((90, GOOD)))
    done = lint("--ratchet", *arguments)
    assert done.status == 1
    assert "Improved: lib.fatbin!1:sm_80 in `bad` has no `undeclared-name`" in done.out


def test_plain_files_need_nothing_of_containers(library: Path) -> None:
    Path("good.ptx").write_text(GOOD)
    script = (
        "import sys; from ptx_lsp.cli.lint import main; main(['--no-cache', sys.argv[1]]);"
        "print(*(m for m in sys.modules if 'containers' in m or 'members' in m))"
    )

    def run(path: str) -> list[str]:
        command = [sys.executable, "-c", script, path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    assert run("good.ptx")[-1] == ""
    assert "ptx_lsp.containers.registry" in run("lib.fatbin")[-1]


@pytest.mark.parametrize(
    ("recorded", "words", "limit"),
    [
        ("-maxrregcount=40 -v", [], 40), ("-v --maxrregcount 32", [], 32),
        ("-maxrregcount=40 -maxrregcount=48", [], 48), ("-maxrregcount=40", ["--maxrregcount", "64"], 64),
        ("-maxrregcount=0", [], None), ("-maxrregcount=300", [], None), ("", [], None),
    ],
)  # fmt: skip
def test_recorded_register_limit(
    lint: Lint, library: Path, recorded: str, words: list[str], limit: int | None
) -> None:
    """The limit that the compiler was given is that of the kernels, unless an option says else."""
    Path("lib.fatbin").write_bytes(fat_binary((90, kernel("k", 90)), options=recorded))
    report = json.loads(lint("--kernels", "--format", "json", *words, "lib.fatbin").out)
    assert report["files"][0]["kernels"][0]["registers"]["limit"] == limit
