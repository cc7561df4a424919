"""Nothing in a project makes a run write outside it: neither its configuration, nor its links, nor its names.

Before and after every run here the whole tree around the project is looked at: paths, kinds, bytes, times,
where links lead. Options are those of the parsers, keys those of the configuration: a new one is tried, too.
"""

from __future__ import annotations

import argparse
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ptx_lsp.cli import run
from ptx_lsp.cli.launching import run_options
from ptx_lsp.cli.lint import COMMANDS
from ptx_lsp.cli.option_parser import parser
from ptx_lsp.lint.configuration.config import KEYS
from ptx_lsp.lint.configuration.config_values import PATH
from tests.cli.conftest import BAD, HEADER, Lint
from tests.cli.containers.conftest import fat_binary
from tests.server.connection import Connection, Json

FIXABLE = f"{HEADER}.visible .entry k() {{\n\t.reg .b32 %r<4>;\n\tmov.b32 %r1, %r2\n\tret;\n}}\n"
LAUNCHED = f"{HEADER}// ptx-run: grid=1 block=1 u32:zeros(4)\n.entry k(.param .u64 p) {{ ret; }}\n"
LOG = "".join(f"ptxas {path}, line 6; error : x\n" for path in ("../outside/k.ptx", "inner/pipe.ptx"))
EMPTY = '{"version": 1, "findings": []}'
Picture = dict[str, tuple[int, int, bytes]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a project full of traps, beside a tree that they aim at."""
    monkeypatch.delenv("PTX_LINT_NO_CACHE")
    monkeypatch.setenv("PTX_LINT_CACHE_DIR", str(tmp_path / "own" / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "outside" / "home"))
    monkeypatch.setattr("ptx_lsp.cli.checking.watch.watch", once)
    outside = tmp_path / "outside"
    (tmp_path / "own").mkdir()
    for name, data in (
        ("k.ptx", FIXABLE), ("sub/deep.ptx", FIXABLE), ("hard.ptx", FIXABLE), ("notes", "notes"),
        ("home/.profile", "x"), ("ab/" + 62 * "c", "an entry?"), ("rules-0123456789abcdef.json", "[]"),
        ("known.json", EMPTY), ("y.npy", ""), ("empty/.keep", ""),
    ):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text(data)
    for path in outside.rglob("*"):
        os.utime(path, (0, 0))
    build(tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def once(run: Callable[[], None], _: object) -> None:
    """In place of --watch, which has no end."""
    run()


def build(project: Path) -> None:
    for name in (".git/objects/ab", ".git/objects/info", "inner", "traps/marked", "data"):
        (project / name).mkdir(parents=True)
    for name, data in (
        ("k.ptx", FIXABLE), ("inner/k.ptx", BAD), ("launched.ptx", LAUNCHED), ("data/file", "data"),
        (".git/objects/ab/" + 62 * "c", "an object"), (".git/config", "[core]"),
        ("known.json", EMPTY), ("build.log", LOG), ("traps/marked/.made-by-ptx-lint", ""),
        ("traps/marked/rules-0123456789abcdef.json", "[]"),
    ):
        (project / name).write_text(data)
    (project / "lib.fatbin").write_bytes(fat_binary((80, BAD), (90, FIXABLE)))
    (project / "out").mkdir()
    links = {
        "file.ptx": "../outside/k.ptx", "folder": "../outside", "chain": "folder/sub", "up": "..",
        "loop": ".",
        "inner/own.ptx": "../k.ptx", "inner/loop.ptx": "loop.ptx", "inner/gone.ptx": "../../outside/gone.ptx",
        "link.json": "../outside/known.json", "new.json": "../outside/new.json", "y.npy": "../outside/y.npy",
        "traps/marked/.gitignore": "../../../outside/notes",
        "traps/marked/CACHEDIR.TAG": "../../../outside/tag",
        "traps/linked": "../../outside",
        "out/lib.1.sm_80.ptx": "../../outside/k.ptx", "out/lib.2.sm_90.ptx": "../../outside/new.ptx",
        **{f"traps/marked/{number:02x}": "../../../outside/ab" for number in range(256)},
    }
    for name, target in links.items():
        (project / name).symlink_to(target)
    os.link(project.parent / "outside" / "hard.ptx", project / "hard.ptx")
    os.mkfifo(project / "inner" / "pipe.ptx")
    for path in (*(project / ".git").rglob("*"), *(project / "traps").rglob("*")):
        os.utime(path, (0, 0), follow_symlinks=False)


def picture(project: Path) -> Picture:
    """All around the project, and its repository, which is nobody's business either."""
    found: Picture = {}
    for top in (project.parent / "outside", project / ".git"):
        for folder, folders, files in os.walk(top):
            for path in (Path(folder), *(Path(folder, name) for name in (*folders, *files))):
                status = path.lstat()
                data = os.fsencode(path.readlink()) if path.is_symlink() else (
                    path.read_bytes() if path.is_file() else b""
                )
                found[str(path)] = (status.st_mode, status.st_mtime_ns, data)
    found["names"] = (0, 0, " ".join(sorted(path.name for path in project.parent.iterdir())).encode())
    return found


VALUES = {
    "RULES": "ALL", "A,B": "sm_80,sm_90", "T": "sm_90", "PATH": "", "NAME": "ret", "DIR": "data",
    "N": "32", "N|XxY[xZ]": "32x32",
    "FILE": "k.json", "TEXT": "why", "X[=FILE]": "json=out.json", "KERNEL": "k", "FILE.html": "out.html",
    "X[,Y[,Z]]": "1", "SPEC": "u32:zeros(4)", "FILE.toml": "launch.toml", "BYTES": "16", "COUNT": "1000",
    "FILE.ptxrec": "own.ptxrec",
    "S": "9", "INDEX[=FILE]": "0=own.npy", "EVENTS": "5", "10,12-15": "5", "BLOCK:THREAD,...": "0:0",
    "INDEX=FILE": "0=own.npy", "R": "0.1", "A": "0.1", "TARGET": "sm_80",
    "SCRIPT ARGS": "", "FOLDER": "folder",
}
"""What an option is given, by its metavar. It writes into the project: the user may name any place."""
WORDS = {
    "config": ["check", "show", "schema"], "completion": ["bash"], "man": [""],
    "compare": ["k.ptx ../outside/k.ptx", "inner .", "-o out.md --format markdown . ."],
    "blame": ["build.log", "build.log --ptx . --source .", "build.log --kernels -o out.txt"],
    "extract": ["lib.fatbin -o out", "lib.fatbin -o out --force", ". -o new", "lib.fatbin --list"],
}


def options(of: argparse.ArgumentParser) -> Iterator[list[str]]:
    """Every option of a command, with a value where it takes one."""
    for action in of._actions:
        if not action.option_strings:
            continue
        name = action.option_strings[0]
        if action.nargs == 0:
            yield [name]
        elif action.choices is not None:
            yield from ([name, str(choice)] for choice in action.choices)
        else:
            assert isinstance(action.metavar, str)
            yield [name, VALUES[action.metavar]] if VALUES[action.metavar] else [name]


ALL = list(options(parser()))
PATH_KEYS = [key for key, (schema, _) in KEYS.items() if schema == PATH.schema]
HOSTILE = [
    "..", "../outside", "../outside/known.json", "inner/../../outside/known.json", "folder", "folder/new",
    "up/x", "folder/../outside/known.json", "chain/../known.json", "link.json", "new.json", "traps/linked/ab",
    "~/.profile", "~", ".git/objects", ".git/new", ".GIT/objects", "loop/.git/objects",
    "inner/../.git/x",
]


def assert_untouched(project: Path, do: Callable[[], object]) -> None:
    before = picture(project)
    do()
    after = picture(project)
    assert after == before


def renewed(project: Path) -> None:
    shutil.rmtree(project)
    build(project)
    os.chdir(project)


def test_the_options_that_write_are_among_those_tried() -> None:
    tried = {words[0] for words in ALL}
    assert {"--fix", "--unsafe-fixes", "--add-ignore", "--update-baseline", "--cache-dir"} <= tried
    assert {"baseline", "cache-dir"} == set(PATH_KEYS)
    assert set(WORDS) == set(COMMANDS)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_links(lint: Lint, project: Path, words: list[str]) -> None:
    """Nothing is written through those that lead out; what is inside is."""
    assert_untouched(project, lambda: lint(*words, "."))
    for more in ("--fix", "--add-ignore", "--update-baseline"):
        renewed(project)
        Path("ptx-lint.toml").write_text('baseline = "known.json"\ncache-dir = ".cache"\n')
        assert_untouched(project, lambda more=more: lint(*words, more, "."))
        if words == ["--quiet"]:
            assert Path("inner/own.ptx").is_symlink()
            assert (Path("known.json").read_text() != EMPTY) == (more == "--update-baseline")
            assert ("%r2;" in Path("k.ptx").read_text()) == (more == "--fix")
            assert ("ptx-lint: ignore" in Path("inner/k.ptx").read_text()) == (more == "--add-ignore")
            assert Path(".cache/.made-by-ptx-lint").exists()


@pytest.mark.parametrize("key", PATH_KEYS)
@pytest.mark.parametrize("value", [*HOSTILE, "{outside}/known.json", "{outside}/empty"])
def test_hostile_configurations(lint: Lint, project: Path, key: str, value: str) -> None:
    place = value.format(outside=project.parent / "outside")
    for name, head in (("ptx-lint.toml", ""), ("pyproject.toml", "[tool.ptx-lint]\n")):
        renewed(project)
        Path(name).write_text(f"{head}{key} = '{place}'\n")
        for words in (["--fix"], ["--update-baseline"], ["--no-cache"], ["--add-ignore"]):
            assert_untouched(project, lambda words=words: lint(*words, "k.ptx", "inner"))
        done = lint("--update-baseline", "k.ptx")
        assert done.status == 2
        assert f"`{key}` must be a" in done.err


def test_a_marked_folder_with_links(lint: Lint, project: Path) -> None:
    """A project may come with the marker, too."""
    Path("ptx-lint.toml").write_text('cache-dir = "traps/marked"\n')
    os.utime("traps/marked/.made-by-ptx-lint", (0, 0))

    def lint_all() -> None:
        for _ in range(2):
            assert lint("k.ptx", "inner/k.ptx").out.count("error[") >= 1

    assert_untouched(project, lint_all)
    assert not Path("traps/marked/rules-0123456789abcdef.json").exists()


def test_folders_that_are_no_cache(lint: Lint, project: Path) -> None:
    """A configuration may name none; a user may, and nothing is removed from it then."""
    Path("ptx-lint.toml").write_text('cache-dir = "data"\n')
    done = lint("k.ptx")
    assert done.status == 2
    assert "`cache-dir` must be new, empty or created by ptx-lint" in done.err
    old = Path("data/ab", 62 * "c")
    old.parent.mkdir()
    old.touch()
    os.utime(old, (0, 0))
    for _ in range(2):
        assert lint("--cache-dir", "data", "k.ptx").status == 1
    assert old.exists()
    assert len(list(Path("data").glob("??/*"))) == 2
    assert not Path("data/.gitignore").exists()


def test_pruning_takes_what_is_ours_only(lint: Lint, project: Path) -> None:
    lint("--cache-dir", "kept", "k.ptx")
    [entry] = Path("kept").glob("??/*")
    others = ["notes", "ab/short", "ab/" + 63 * "c", "abc/" + 62 * "c", "rules-x.json", "zz/" + 62 * "c"]
    ours = ["ab/" + 62 * "c", "ab/.ptx-lint.12.34", "rules-0123456789abcdef.json"]
    for name in (*others, *ours):
        Path("kept", name).parent.mkdir(exist_ok=True)
        Path("kept", name).touch()
    Path("kept", "cd").mkdir(exist_ok=True)
    Path("kept", "cd", 62 * "d").symlink_to("../../k.ptx")
    Path("kept", "ef").mkdir(exist_ok=True)
    Path("kept", "ef", 62 * "e").mkdir()
    for path in Path("kept").rglob("*"):
        os.utime(path, (0, 0), follow_symlinks=False)
    lint("--cache-dir", "kept", "inner/k.ptx")
    assert all(Path("kept", name).exists() for name in (*others, "cd/" + 62 * "d", "ef/" + 62 * "e"))
    assert not any(Path("kept", name).exists() for name in (*ours, entry.relative_to("kept")))


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_commands(lint: Lint, project: Path, command: str) -> None:
    for words in WORDS[command]:
        assert_untouched(project, lambda words=words: lint(command, *words.split()))


RUN_OPTIONS = [
    words for words in options(run_options.parser()) if words[0] not in ("--launch", "--python")
]


@pytest.mark.parametrize("words", RUN_OPTIONS, ids=" ".join)
def test_ptx_run(project: Path, words: list[str]) -> None:
    assert_untouched(project, lambda: run.main([*words, "launched.ptx"]))


@pytest.mark.parametrize(
    "place", ["../outside/x", "{outside}/x.npy", "folder/x.npy", "y", "y.npy", "up/x.npz", "~/x", ".git/x"]
)
def test_launch_files(project: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """What they have written stays in their folder; the user may name any other."""
    place = place.format(outside=project.parent / "outside")
    launch = 'file = "launched.ptx"\ngrid = 1\nblock = 1\narguments = ["u32:zeros(4)"]\n'
    Path("launch.toml").write_text(f"{launch}out = ['0={place}']\n")
    assert_untouched(project, lambda: run.main(["--launch", "launch.toml"]))
    assert "`out` cannot write to `" in capsys.readouterr().err
    Path("launch.toml").write_text(f"{launch}[out]\np = 'own.npy'\n")
    assert run.main(["--launch", "launch.toml"]) == 0
    assert Path("own.npy").exists()


def test_the_language_server(project: Path) -> None:
    """It writes nothing, reads no pipe, and looks at no file outside."""
    before = picture(project)
    Path("ptx-lint.toml").write_text('cache-dir = "../outside"\n')
    Path("inner/ptx-lint.toml").write_text('baseline = "known.json"\ncache-dir = ".cache"\n')
    uri = (project / "k.ptx").as_uri()
    settings: Json = {"workspaceDiagnostics": True}
    with Connection(folders=[project], options=settings) as client:
        client.open(uri, FIXABLE)
        client.findings(uri, 1)
        answer = client.request("workspace/diagnostic", {"previousResultIds": []})
        shown = [one for one in client.notified if one.get("method") == "window/showMessage"]
    assert "`cache-dir` must be a path inside the folder" in str(shown)
    assert "hard.ptx" in str(answer)
    assert "inner/k.ptx" in str(answer)
    assert "file.ptx" not in str(answer)
    assert "pipe.ptx" not in str(answer)
    assert picture(project) == before
    assert not (project / "inner" / ".cache").exists()
