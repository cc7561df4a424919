"""The code of modules comes from one file, unless their sources have changed."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from inspect import getsource
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

from ptx_lsp.code_cache import CodeCache

ROOT = Path(__file__).parents[1]
MODULES = ("parcel.inner", "parcel.inner.leaf", "parcel.other")


class Importer(Protocol):
    def __call__(self, names: Sequence[str] = ...) -> tuple[list[ModuleType], list[str]]: ...



@pytest.fixture
def parcel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package to import."""
    folder = tmp_path / "parcel"
    (folder / "inner").mkdir(parents=True)
    for name in ("__init__", "inner/__init__", "inner/leaf", "other"):
        (folder / f"{name}.py").write_text("def value():\n    return 1\n")
    (folder / "whole.py").write_text(
        "from parcel.inner.leaf import value\nfrom parcel.other import value as other\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    yield folder
    _forget()


@pytest.fixture
def imported(parcel: Path, monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Imports the modules as a new process would; returns them, and the names of those not from the file."""

    def run(names: Sequence[str] = MODULES) -> tuple[list[ModuleType], list[str]]:
        _forget()
        importlib.invalidate_caches()
        before = list(sys.meta_path)
        cache = CodeCache(str(parcel / "modules"), ("parcel.",))
        cache.install()
        try:
            modules = [importlib.import_module(name) for name in names]
            cache.write()
        finally:
            sys.meta_path[:] = before
        return modules, [one.__name__ for one in modules if not _is_cached(one)]

    return run


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "parcel"]:
        del sys.modules[name]


def _is_cached(module: ModuleType) -> bool:
    return type(module.__loader__).__module__ == CodeCache.__module__


def test_a_second_run_takes_all_modules_from_the_file(imported: Importer) -> None:
    assert imported()[1] == list(MODULES)
    assert imported()[1] == []


def test_a_module_is_as_if_imported_from_its_source(imported: Importer) -> None:
    def seen(one: ModuleType) -> tuple[object, ...]:
        spec = one.__spec__
        assert spec is not None
        own = (
            one.__name__,
            one.__file__,
            one.__package__,
            getattr(one, "__path__", None),
            spec.cached,
        )
        return (
            *own,
            spec.origin,
            spec.has_location,
            one.value.__code__.co_filename,
            getsource(one),
        )

    usual, cached = imported()[0], imported()[0]
    assert list(map(seen, usual)) == list(map(seen, cached))
    assert vars(usual[1]).keys() == vars(cached[1]).keys()


def test_a_changed_source_is_imported_anew(imported: Importer, parcel: Path) -> None:
    imported()
    leaf = parcel / "inner" / "leaf.py"
    leaf.write_text("def value():\n    return 2\n")
    os.utime(leaf, (1, 1))  # in the past: any other time counts
    modules, others = imported()
    assert others == ["parcel.inner.leaf"]
    assert [one.value() for one in modules] == [1, 2, 1]
    modules, others = imported()
    assert others == []
    assert [one.value() for one in modules] == [1, 2, 1]


def test_a_moved_package_is_imported_anew(imported: Importer, parcel: Path) -> None:
    imported()
    elsewhere = parcel.parent / "elsewhere"
    elsewhere.mkdir()
    for path in (parcel, *parcel.rglob("*")):
        target = elsewhere / path.relative_to(parcel.parent)
        if path.is_dir():
            target.mkdir()
        else:
            target.write_bytes(path.read_bytes())
    sys.path.insert(0, str(elsewhere))  # the fixture of the package restores the path
    assert imported()[1] == list(MODULES)
    (inner, *_), others = imported()
    assert others == []
    assert inner.__file__ == str(elsewhere / "parcel" / "inner" / "__init__.py")


@pytest.mark.parametrize("data", [b"", b"\x08", b"\x04\0\0what", b"\xff" * 64])
def test_a_damaged_file_is_written_anew(imported: Importer, parcel: Path, data: bytes) -> None:
    (parcel / "modules").write_bytes(data)
    assert imported()[1] == list(MODULES)
    assert imported()[1] == []


def test_a_file_that_is_cut_off_loses_nothing(imported: Importer, parcel: Path) -> None:
    imported()
    file = parcel / "modules"
    file.write_bytes(file.read_bytes()[:-150])
    assert [one.value() for one in imported()[0]] == [1, 1, 1]


def test_nothing_is_written_if_byte_code_must_not_be(
    imported: Importer, parcel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    imported()
    assert not (parcel / "modules").exists()


def test_a_complete_file_is_not_written_again(imported: Importer, parcel: Path) -> None:
    imported()
    before = (parcel / "modules").stat()
    imported()
    assert (parcel / "modules").stat() == before


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules of the package that `importlib` asks the cache for."""
    names: list[str] = []
    find = CodeCache.find_spec

    def recorded(
        self: CodeCache, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        names.extend([name] if name.startswith("parcel.") else [])
        return find(self, name, path, target)

    monkeypatch.setattr(CodeCache, "find_spec", recorded)
    monkeypatch.delitem(sys.modules, "threading")
    return names


WHOLE = ("parcel.whole",)


def test_what_a_module_imports_is_created_before_it(imported: Importer, requested: list[str]) -> None:
    every = ["parcel.whole", "parcel.inner", "parcel.inner.leaf", "parcel.other"]
    for expected in (every, every, ["parcel.whole"], ["parcel.whole"]):
        requested.clear()
        imported(WHOLE)
        assert requested == expected
    inner, leaf, other = (sys.modules[name] for name in MODULES)
    assert (inner.leaf, sys.modules["parcel"].other) == (leaf, other)
    assert all(_is_cached(one) for one in (inner, leaf, other))
    assert [leaf.__spec__ and leaf.__spec__.parent, leaf.__package__] == ["parcel.inner"] * 2
    assert vars(leaf).keys() == vars(imported()[0][1]).keys()


def test_with_threads_modules_are_created_one_by_one(
    imported: Importer, requested: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        imported(WHOLE)
    requested.clear()
    monkeypatch.setitem(sys.modules, "threading", threading)
    imported(WHOLE)
    assert len(requested) == 4


def test_a_changed_import_is_imported_anew(imported: Importer, parcel: Path) -> None:
    for _ in range(3):
        imported(WHOLE)
    leaf = parcel / "inner" / "leaf.py"
    leaf.write_text("def value():\n    return 2\n")
    os.utime(leaf, (1, 1))
    for _ in range(3):
        (whole,), _ = imported(WHOLE)
        assert [whole.value(), whole.other()] == [2, 1]


def test_an_import_that_fails_is_reported_as_usual(
    imported: Importer, parcel: Path, requested: list[str]
) -> None:
    leaf = parcel / "inner" / "leaf.py"
    leaf.write_text("import sys\nassert not hasattr(sys, 'is_failing')\ndef value():\n    return 1\n")
    for _ in range(3):
        imported(WHOLE)
    with pytest.MonkeyPatch.context() as change:
        change.setattr(sys, "is_failing", True, raising=False)
        with pytest.raises(AssertionError):
            imported(WHOLE)
        assert "parcel.inner.leaf" not in sys.modules
    (whole,), _ = imported(WHOLE)
    assert whole.value() == 1


def test_the_command_reads_no_other_byte_code(tmp_path: Path) -> None:
    """Counted in its last run: after its own start, the command opens no cache of one module, and imports
    neither `typing` nor `re`.
    """
    script = (
        "import sys, os; slow = ('typing', 're'); [sys.modules.pop(name, None) for name in slow];"
        "from ptx_lsp.cli.lint import main; opened = [];"
        "sys.addaudithook(lambda event, given: opened.append(given[0]) if event == 'open' else None);"
        f"sys.argv = ['ptx-lint', '--no-cache', '--no-config', {str(ROOT / 'examples' / 'saxpy.ptx')!r}];"
        "os._exit = lambda status: print(*[one for one in opened if str(one).endswith('.pyc')],"
        " *[f'ptx_lsp imports {name}' for name in slow if name in sys.modules], sep='\\n');"
        "main()"
    )
    variables = dict(os.environ, PYTHONPYCACHEPREFIX=str(tmp_path))
    variables.pop("PYTHONDONTWRITEBYTECODE", None)

    def run() -> list[str]:
        command = [sys.executable, "-c", script]
        done = subprocess.run(
            command, env=variables, capture_output=True, text=True, check=True, cwd=tmp_path
        )
        return [one for one in done.stdout.splitlines()[1:] if "ptx_lsp" in one]

    first = run()  # compiles
    assert len(first) > 150
    run()  # the first one imported what makes the indices
    assert run() == []


def test_figures_of_kernels_need_no_slow_module(tmp_path: Path) -> None:
    """After a first run, which makes the indices and keeps them beside the compiled modules."""
    variables = dict(os.environ, PYTHONPYCACHEPREFIX=str(tmp_path))
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    slow: dict[str, str] = {}
    for option in ("--kernels", "--kernels", "--format=json", "--format=json"):
        script = (
            "import sys; slow = ('json', 're'); [sys.modules.pop(name, None) for name in slow];"
            "from ptx_lsp.cli.lint import main;"
            f"main(['--no-cache', '--no-config', {option!r}, {str(ROOT / 'examples' / 'saxpy.ptx')!r}]);"
            "print(*[name for name in slow if name in sys.modules], file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=True
        )
        assert "saxpy" in done.stdout
        slow[option] = done.stderr  # of the last run
    assert slow == {"--kernels": "\n", "--format=json": "\n"}
