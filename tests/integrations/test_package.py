"""The wheel and the sdist build, install into a clean environment and work; pre-commit runs the hook."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy
import pytest
import yaml

from ptx_lsp import __version__
from tests.cli.conftest import BAD, GOOD
from tests.integrations.conftest import QUICKLY, ROOT, build

SITE = str(Path(numpy.__file__).parents[1])
"""Where what we depend on is: installing needs no network then."""


def run(*arguments: object, **environment: str) -> str:
    """The output of a program. Fails with what it said."""
    done = subprocess.run(
        [str(one) for one in arguments], env={**os.environ, **environment}, capture_output=True, text=True,
        check=False, timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_contents(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (sdist,) = built.glob("*.tar.gz")
    assert "-cp311-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {
        "analyses.py", "ptx_lsp", "tree_sitter_ptx",
    }
    for part in ("ptx_lsp/py.typed", "ptx_lsp/pytest_plugin.py", "tree_sitter_ptx/queries/highlights.scm"):
        assert part in names
    assert not [name for name in names if name.endswith((".c", ".h"))]
    with tarfile.open(sdist) as archive:
        packed = [name.partition("/")[2] for name in archive.getnames()]
    for part in ("tree-sitter-ptx/src/parser.c", "tree-sitter-ptx/src/scanner.c", "LICENSE", "setup.py"):
        assert part in packed


def test_the_same_commit_gives_the_same_bytes(built: Path, checkout: Path, tmp_path: Path) -> None:
    """In another folder, later, by somebody with another umask."""
    run("git", "clone", "--quiet", checkout, tmp_path / "again")
    previous = os.umask(0o077)
    try:
        build(tmp_path / "again", tmp_path / "dist")
    finally:
        os.umask(previous)
    first, second = (
        {file.name: file.read_bytes() for file in folder.iterdir()} for folder in (built, tmp_path / "dist")
    )
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_headers_are_found_from_the_files_that_include_them() -> None:
    """And not by chance, from the folders in which compilers search, which depend on where Python is."""
    files = sorted((ROOT / "ptx_lsp").rglob("native/*.[ch]"))
    included = [
        (file, name)
        for file in files
        for name in re.findall(r'(?m)^#include "([^"]+)"', file.read_text(encoding="utf-8"))
    ]
    assert len(included) > len(files)
    assert [(file.name, name) for file, name in included if not (file.parent / name).is_file()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="setuptools looks for the compiler there")
@pytest.mark.parametrize("variables", [{"PATH": ""}, {"CC": "no-such-compiler -O2"}])
def test_a_build_without_a_compiler_says_so(variables: dict[str, str], tmp_path: Path) -> None:
    command = [sys.executable, "setup.py", "--quiet", "build", "--build-base", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("error: ptx-lsp is built with a C compiler, but `")
    assert variables.get("CC", "").partition(" ")[0] in last
    assert not list(tmp_path.iterdir()), "it fails before anything is built"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc is on Linux")
def test_the_wheel_runs_with_old_systems(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    out = run(sys.executable, "-m", "auditwheel", "show", wheel)
    assert re.search(r'tag:\s+"manylinux_2_17_x86_64"', out), out


def test_all_includes_each_extra_for_users() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    for_others = {"bench", "cluster", "dev", "dist", "train"}  # developers, and clusters
    assert everything == f"ptx-lsp[{','.join(sorted(extras.keys() - for_others))}]"


@pytest.mark.parametrize(
    ("file", "pattern", "count"),
    [
        ("tree-sitter-ptx/tree-sitter.json", r'"version": "([^"]+)"', 1),
        ("editors/zed/Cargo.toml", r'(?m)^version = "([^"]+)"', 1),
        ("editors/zed/extension.toml", r'(?m)^version = "([^"]+)"', 1),
        ("vscode-extension/package.json", r'"version": "([^"]+)"', 1),
        ("vscode-extension/package-lock.json", r'"name": "ptx-lsp",\s+"version": "([^"]+)"', 2),
        ("docs/ci.md", r"(?:rev: |ptx-lsp@)v([\d.]+)", 2),
    ],
)
def test_the_version_is_the_same_everywhere(file: str, pattern: str, count: int) -> None:
    found = re.findall(pattern, (ROOT / file).read_text(encoding="utf-8"))
    assert found == [__version__] * count


def test_the_changelogs_describe_this_version() -> None:
    for file in ("CHANGELOG.md", "vscode-extension/CHANGELOG.md"):
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"(?m)^## \[?{re.escape(__version__)}\b", text), file


def test_clean_environment(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of this checkout is seen: only the wheel, and what it depends on."""
    monkeypatch.chdir(tmp_path)
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    run(
        sys.executable, "-m", "pip", "--python", python, "install", "--no-index", "--no-deps", "--quiet",
        wheel,
    )
    clean = {"PYTHONPATH": SITE, "PTX_LINT_NO_CACHE": "1"}
    scripts = tmp_path / "venv" / "bin"
    assert run(scripts / "ptx-lint", "--version", **clean).startswith("ptx-lint ")
    assert run(scripts / "ptx-lsp", "--version", **clean).startswith("ptx-lsp ")
    assert run(scripts / "ptx-run", "--version", **clean).startswith("ptx-run ")
    assert run(scripts / "ptx-reduce", "--version", **clean).startswith("ptx-reduce ")
    where = run(python, "-c", "import ptx_lsp; print(ptx_lsp.__file__)", **clean)
    assert where.startswith(str(tmp_path / "venv"))
    for name in ("analyses", "ptx_lsp.analyses"):
        code = f"from {name}.occupancy import occupancy; print(occupancy('sm_90', 256, 40).percent)"
        assert run(python, "-c", code, **clean) == "75.0\n"
    another = Path(where.strip()).parents[1] / "analyses"  # of another project, in the same folder
    another.mkdir()
    (another / "__init__.py").write_text("")
    (another / "theirs.py").write_text("")
    run(python, "-c", "import analyses.theirs, ptx_lsp.analyses.occupancy", **clean)
    (tmp_path / "good.ptx").write_text(GOOD)
    out = run(scripts / "ptx-lint", "--kernels", tmp_path / "good.ptx", **clean)
    assert "All checks passed: 1 file." in out
    run(python, "-m", "ptx_lsp", "--explain", "mul.wide.u32", **clean)
    (tmp_path / "test_it.py").write_text(
        "def test_it(ptx_kernel):\n    assert ptx_kernel('good.ptx').errors == []\n"
    )
    assert "1 passed" in run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path, **clean)


def test_pre_commit(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It clones the checkout, installs it, and runs the hook on what is staged."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.ptx", GOOD), ("bad.ptx", BAD), ("gen.ptx", BAD), ("notes.txt", BAD)):
        Path(name).write_text(text)
    Path("ptx-lint.toml").write_text('exclude = ["gen.ptx"]\n')
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True
    ).stdout.strip()
    hooks = [{"id": "ptx-lint"}]
    repository = {"repo": str(checkout), "rev": revision, "hooks": hooks}
    Path(".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [repository]}))
    for arguments in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *arguments], check=True)
    offline = {
        "PRE_COMMIT_HOME": str(tmp_path / "home"), "PYTHONPATH": SITE, "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **QUICKLY,
    }
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color", "never"],
        env={**os.environ, **offline}, capture_output=True, text=True, check=False, timeout=300,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "error[E101] undeclared-name" in done.stdout, done.stdout
    assert "bad.ptx:7:15" in done.stdout
    assert "gen.ptx" not in done.stdout
    Path("bad.ptx").write_text(GOOD)
    subprocess.run(["git", "add", "-A"], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", "--color", "never"],
        env={**os.environ, **offline}, capture_output=True, text=True, check=False, timeout=300,
    )
    assert (done.returncode, "Passed" in done.stdout) == (0, True), done.stdout


@pytest.mark.parametrize("platform", ["linux", "macos", "windows"])
@pytest.mark.parametrize("arch", [("x86_64", "AMD64"), ("arm64", "aarch64", "ARM64")], ids=["x86", "arm"])
def test_wheels_are_configured(platform: str, arch: tuple[str, ...], checkout: Path) -> None:
    own = {"linux": {"x86_64", "aarch64"}, "macos": {"x86_64", "arm64"}, "windows": {"AMD64", "ARM64"}}
    (name,) = own[platform] & set(arch)
    out = run(
        sys.executable, "-m", "cibuildwheel", "--print-build-identifiers", "--platform", platform, "--archs",
        name, checkout,
    )
    assert out.split() == [f"cp311-{tag}_{name.lower()}" for tag in _TAGS[platform]]


_TAGS = {"linux": ["manylinux", "musllinux"], "macos": ["macosx"], "windows": ["win"]}


def test_hooks_are_valid() -> None:
    run(sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml")
