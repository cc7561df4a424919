"""Definitions, references, renaming and search across the files of a workspace, open and on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.connection import Connection, Json, ResponseError, at

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
LIBRARY = HEAD + (
    ".visible .global .b32 counter;\n"
    ".visible .func twice(.param .b32 a)\n{\n    .reg .b32 %r1;\n    ld.param.b32 %r1, [a];\n    ret;\n}\n"
    ".func hidden()\n{\n    ret;\n}\n"
)
DECLARED = ".extern .global .b32 counter;\n.extern .func twice(.param .b32 a);\n"
CALLING = (
    "{\n    .reg .b32 %r1;\n    .reg .b64 %rd1;\n    .param .b32 p;\n    mov.b64 %rd1, counter;\n"
    "    st.param.b32 [p], 1;\n    call twice, (p);\n    ret;\n}\n"
)
PROGRAM = HEAD + DECLARED + ".visible .entry kernel()\n" + CALLING
SHADOWED = HEAD + DECLARED + (
    ".visible .entry other()\n{\n    .reg .b32 counter;\n    mov.b32 counter, 1;\n    ret;\n}\n"
)


class Workspace:
    """A folder of files, and a client that has some of them open."""

    def __init__(self, folder: Path, connection: Connection) -> None:
        self.folder = folder
        self.connection = connection

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def open(self, name: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        self.connection.open(self.uri(name), text)

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def request(self, method: str, name: str, text: str, words: str, **more: Json) -> Json:
        """Asks about the place of `words` in a file with this text."""
        before = text[: text.index(words)]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        document = {"textDocument": {"uri": self.uri(name)}, "position": position}
        return self.connection.request(f"textDocument/{method}", {**document, **more})

    def places(self, found: Json) -> list[tuple[str, int]]:
        """Locations as names of files and lines counted from 0."""
        assert isinstance(found, list)
        return sorted(
            (str(at(one, "uri")).removeprefix(self.folder.as_uri() + "/"), _line(one)) for one in found
        )


def _line(place: Json) -> int:
    line = at(place, "range", "start", "line")
    assert isinstance(line, int)
    return line


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    capable: Json = {"workspace": {"workspaceEdit": {"documentChanges": True}}}
    with Connection(capable, folders=[tmp_path]) as connection:
        found = Workspace(tmp_path, connection)
        found.write("lib/library.ptx", LIBRARY)
        found.write("program.ptx", PROGRAM)
        found.open("program.ptx")
        yield found


def references(workspace: Workspace, name: str, text: str, words: str) -> list[tuple[str, int]]:
    context: Json = {"includeDeclaration": True}
    return workspace.places(workspace.request("references", name, text, words, context=context))


def definition(workspace: Workspace, words: str) -> list[tuple[str, int]]:
    return workspace.places(workspace.request("definition", "program.ptx", PROGRAM, words))


def test_definition_in_a_file_that_is_not_open(workspace: Workspace) -> None:
    assert definition(workspace, "twice, (p)") == [("lib/library.ptx", 4)]
    assert definition(workspace, "counter;\n    st") == [("lib/library.ptx", 3)]
    assert definition(workspace, "kernel()") == [("program.ptx", 5)]


def test_without_definition_the_declaration_is_found(workspace: Workspace) -> None:
    (workspace.folder / "lib/library.ptx").unlink()
    assert definition(workspace, "twice, (p)") == [("program.ptx", 4)]


def test_definition_follows_changes_on_disk_and_in_the_editor(workspace: Workspace) -> None:
    assert definition(workspace, "twice, (p)") == [("lib/library.ptx", 4)]
    workspace.write("lib/library.ptx", "\n\n" + LIBRARY)
    assert definition(workspace, "twice, (p)") == [("lib/library.ptx", 6)]
    workspace.write("lib/deep/copy.ptx", LIBRARY)
    assert definition(workspace, "twice, (p)") == [("lib/deep/copy.ptx", 4), ("lib/library.ptx", 6)]
    (workspace.folder / "lib/deep/copy.ptx").unlink()
    workspace.connection.open(workspace.uri("lib/library.ptx"), "\n" + LIBRARY)
    assert definition(workspace, "twice, (p)") == [("lib/library.ptx", 5)]


def test_a_change_that_leaves_time_and_size_is_seen(workspace: Workspace) -> None:
    """As a tool that restores times leaves it, right after the file was read."""
    path = workspace.folder / "lib/library.ptx"
    assert definition(workspace, "twice, (p)") == [("lib/library.ptx", 4)]
    status = path.stat()
    path.write_text(LIBRARY.replace("twice", "triple"[:5]), encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert definition(workspace, "twice, (p)") == [("program.ptx", 4)]


def test_hidden_and_excluded_files_are_not_asked(workspace: Workspace) -> None:
    (workspace.folder / "lib/library.ptx").unlink()
    workspace.write(".cache/library.ptx", LIBRARY)
    assert definition(workspace, "twice, (p)") == [("program.ptx", 4)]
    workspace.write("build/library.ptx", LIBRARY)
    assert definition(workspace, "twice, (p)") == [("build/library.ptx", 4)]
    workspace.write("ptx-lint.toml", 'exclude = ["build/**"]\n')
    changed: Json = {"changes": [{"uri": workspace.uri("ptx-lint.toml"), "type": 1}]}
    workspace.connection.notify("workspace/didChangeWatchedFiles", changed)
    assert definition(workspace, "twice, (p)") == [("program.ptx", 4)]


def test_references_in_all_files(workspace: Workspace) -> None:
    workspace.write("shadowed.ptx", SHADOWED)
    found = references(workspace, "program.ptx", PROGRAM, "counter;\n    st")
    assert found == [
        ("lib/library.ptx", 3), ("program.ptx", 3), ("program.ptx", 10), ("shadowed.ptx", 3),
    ]  # fmt: skip
    workspace.open("lib/library.ptx")
    assert references(workspace, "lib/library.ptx", LIBRARY, "twice(") == [
        ("lib/library.ptx", 4), ("program.ptx", 4), ("program.ptx", 12), ("shadowed.ptx", 4),
    ]  # fmt: skip


def test_a_name_without_linkage_stays_in_its_file(workspace: Workspace) -> None:
    workspace.open("lib/library.ptx")
    workspace.write("second.ptx", HEAD + ".func hidden()\n{\n    call hidden;\n    ret;\n}\n")
    assert references(workspace, "lib/library.ptx", LIBRARY, "hidden") == [("lib/library.ptx", 10)]


def test_dynamic_shared_memory_is_not_shared_between_files(workspace: Workspace) -> None:
    text = HEAD + ".extern .shared .align 16 .b8 memory[];\n"
    workspace.write("one.ptx", text)
    workspace.write("two.ptx", text)
    workspace.open("one.ptx")
    assert references(workspace, "one.ptx", text, "memory") == [("one.ptx", 3)]


def renamed(workspace: Workspace, name: str, text: str, words: str, new: str) -> dict[str, list[int]]:
    """The lines that a renaming changes, by file."""
    found = workspace.request("rename", name, text, words, newName=new)
    changes = at(found, "documentChanges")
    assert isinstance(changes, list)
    lines: dict[str, list[int]] = {}
    for change in changes:
        edits = at(change, "edits")
        assert isinstance(edits, list)
        assert all(at(edit, "newText") == new for edit in edits)
        place = str(at(change, "textDocument", "uri")).removeprefix(workspace.folder.as_uri() + "/")
        lines[place] = sorted(map(_line, edits))
    return lines


def test_rename_in_all_files(workspace: Workspace) -> None:
    workspace.write("shadowed.ptx", SHADOWED)
    assert renamed(workspace, "program.ptx", PROGRAM, "twice, (p)", "double_it") == {
        "program.ptx": [4, 12], "lib/library.ptx": [4], "shadowed.ptx": [4],
    }  # fmt: skip
    assert workspace.request("prepareRename", "program.ptx", PROGRAM, "twice, (p)") is not None


def test_rename_is_refused_where_a_file_has_the_new_name(workspace: Workspace) -> None:
    with pytest.raises(ResponseError, match=r"library\.ptx: `hidden` is already declared as a function"):
        renamed(workspace, "program.ptx", PROGRAM, "twice, (p)", "hidden")


def test_rename_is_refused_if_the_definition_is_unknown(workspace: Workspace) -> None:
    workspace.write("lib/second.ptx", LIBRARY)
    with pytest.raises(ResponseError, match="define `twice`: which of them is meant"):
        renamed(workspace, "program.ptx", PROGRAM, "twice, (p)", "double_it")
    for name in ("lib/library.ptx", "lib/second.ptx"):
        (workspace.folder / name).unlink()
    with pytest.raises(ResponseError, match="another file defines `twice`"):
        renamed(workspace, "program.ptx", PROGRAM, "twice, (p)", "double_it")
    assert workspace.request("prepareRename", "program.ptx", PROGRAM, "twice, (p)") is None


def test_a_kernel_that_several_programs_define_is_renamed_in_one(workspace: Workspace) -> None:
    workspace.write("other_target.ptx", PROGRAM)
    assert renamed(workspace, "program.ptx", PROGRAM, "kernel()", "main_kernel") == {"program.ptx": [5]}


def test_search_finds_definitions_on_disk(workspace: Workspace) -> None:
    def search(query: str) -> list[str]:
        found = workspace.connection.request("workspace/symbol", {"query": query})
        assert isinstance(found, list)
        return [f"{at(one, 'name')} {workspace.places([at(one, 'location')])[0][0]}" for one in found]

    assert search("hid") == ["hidden lib/library.ptx"]
    assert search("twice") == ["twice program.ptx", "twice lib/library.ptx"]
    workspace.write("broken.ptx", "\udc80".encode("utf-8", "surrogateescape").decode("latin-1") + "{{{")
    (workspace.folder / "folder.ptx").mkdir()
    assert search("hid") == ["hidden lib/library.ptx"]
