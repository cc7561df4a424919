"""What `program` may name, what is wrong with it, and the files that are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.debug.adapter.messages import Json, Object
from tests.containers.crafted import entry, fat_binary
from tests.debug import kernels
from tests.debug.client import Client, connected, objects


def _started(client: Client, program: Path | str, **arguments: Json) -> None:
    client.body("initialize", adapterID="ptx")
    client.body("launch", program=str(program), **arguments)
    client.event("initialized")


@pytest.mark.parametrize(("name", "arguments"), [
    ("two.fatbin!1:sm_90", {}), ("two.fatbin!2", {"entry": "loop"}), ("two.fatbin", {"entry": "loop"}),
    ("cache!loop", {}),
])
def test_members_are_debugged(tmp_path: Path, name: str, arguments: dict[str, Json]) -> None:
    texts = [one.encode() for one in (kernels.DIVERGENT, kernels.LOOP)]
    (tmp_path / "two.fatbin").write_bytes(fat_binary(*(entry(one) for one in texts)))
    (tmp_path / "cache" / "x").mkdir(parents=True)
    (tmp_path / "cache" / "x" / "loop.ptx").write_text(kernels.LOOP)
    text, line = (kernels.DIVERGENT, kernels.BRANCH) if "!1" in name else (kernels.LOOP, kernels.COUNT)
    with connected() as client:
        _started(client, tmp_path / name, **arguments)
        (source,) = objects(client.body("loadedSources")["sources"])[:1]
        is_member = "cache" not in name
        assert bool(source.get("sourceReference")) == is_member
        found = client.body("source", source=source, sourceReference=source.get("sourceReference", 0))
        assert str(found["content"]).strip() == text.strip()
        seen_in_neovim: Object = {"path": f"dap-src://1/1/{source['path']}"} if is_member else source
        for given in (source, seen_in_neovim):
            found = client.body("setBreakpoints", source=given, breakpoints=[{"line": line}])
            (answer,) = objects(found["breakpoints"])
            assert (answer["verified"], answer["line"]) == (True, line)
        client.body("configurationDone")
        stop = client.event("stopped")
        assert client.frame(stop["threadId"])["source"] == source
        assert client.line(stop) == line
        assert client.refused("source", sourceReference=7) == "there is no source 7"


@pytest.mark.parametrize(("name", "message"), [
    ("empty.ptx", "`{path}` has no kernel"),
    ("folder", "cannot read `{path}`: Is a directory"),
    ("picture.png", "`{path}` is neither PTX nor a container of a known format"),
    ("kernel.ptx!3:sm_90", "`{folder}/kernel.ptx` is not a container: it has no member `3:sm_90`"),
    ("two.fatbin!9", "`{path}`: has no member `9`; it has `1:sm_90`, `2:sm_90`"),
    ("two.fatbin", "`{path}` has 2 PTX texts: give `entry`, or name one: `{path}!1:sm_90`, `{path}!2:sm_90`"),
    ("empty.fatbin", "`{path}` is a fat binary without device code"),
    ("folder!k", "there is no `k.ptx` below `{folder}/folder`"),
    ("nul\0.ptx", "cannot read `{path}`: embedded null byte"),
    ("latin.ptx", ""),
])
def test_programs_that_are_none(tmp_path: Path, name: str, message: str) -> None:
    kernels.written(tmp_path, kernels.LOOP)
    (tmp_path / "empty.ptx").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    (tmp_path / "latin.ptx").write_bytes(b"// Stra\xdfe\n" + kernels.LOOP.encode())
    (tmp_path / "empty.fatbin").write_bytes(fat_binary())
    (tmp_path / "two.fatbin").write_bytes(fat_binary(*(entry(kernels.LOOP.encode()),) * 2))
    path = tmp_path / name
    with connected() as client:
        client.body("initialize", adapterID="ptx")
        answer = client.ask("launch", program=str(path))
        if not message:
            assert answer["success"]
            return
        assert answer["message"] == message.format(path=path, folder=tmp_path)
        body = answer["body"]
        assert isinstance(body, dict) and isinstance(error := body["error"], dict) and error["showUser"]
        client.body("launch", program=str(tmp_path / "kernel.ptx"))  # another try


def test_syntax_errors_are_shown(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.DIVERGENT.replace("%r0, 12;", "%r0 12;"))
    with connected() as client:
        stop = client.start(path)
        assert client.output == "kernel.ptx:12: syntax error\n"
        assert (stop["reason"], client.line(stop)) == ("exception", 12)
        assert "expected 3 operands (`p, a, b`), found 2" in str(stop["text"])


def test_restart_reads_the_file_again(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.LOOP)
    with connected() as client:
        client.start(path, [kernels.COUNT + 8])
        path.write_text("// one line more\n" + kernels.LOOP.replace("%r1, 100;", "%r1, 7;"))
        client.body("restart")
        changed = client.event("breakpoint")["breakpoint"]
        assert isinstance(changed, dict) and (changed["id"], changed["line"]) == (1, kernels.COUNT + 8)
        stop = client.event("stopped")
        assert (client.line(stop), client.value("%r1", stop)) == (kernels.COUNT + 8, "7")
        path.write_text("")
        assert client.refused("restart") == f"`{path}` has no kernel"
        assert client.value("%r1", stop) == "7"  # the kernel stands where it stood
        path.write_text(kernels.LOOP)
        again: Object = {"program": str(path), "stopOnEntry": True}
        client.body("restart", arguments=again)
        assert client.event("stopped")["reason"] == "entry"


def test_data_breakpoints_of_an_edited_program(tmp_path: Path) -> None:
    path = kernels.written(tmp_path, kernels.SHARED)
    with connected() as client:
        client.start(path, [kernels.LOAD])
        found = client.body("dataBreakpointInfo", name="buffer")
        client.body("setDataBreakpoints", breakpoints=[{"dataId": found["dataId"]}])
        path.write_text(kernels.SHARED + "\n")
        client.body("restart")
        client.event("breakpoint")
        told = client.event("breakpoint")["breakpoint"]
        assert isinstance(told, dict)
        assert (told["verified"], told["message"]) == (False, "the program has changed")


_TWO_FILES = kernels.LOOP.replace('.file 1 "loop.cu"', '.file 1 "a/loop.cu"\n.file 2 "b/loop.cu"').replace(
    ".loc 1 6 1", ".loc 2 6 1"
)


@pytest.mark.parametrize("is_there", [True, False])
def test_sources_of_the_same_name(tmp_path: Path, is_there: bool) -> None:
    """Those that `.file` names, or copies elsewhere."""
    path = kernels.written(tmp_path, _TWO_FILES)
    root = tmp_path if is_there else tmp_path / "copy"
    for one in ("a", "b", "c"):
        (root / one).mkdir(parents=True)
        (root / one / "loop.cu").touch()
    with connected() as client:
        _started(client, path, show="source")
        assert client.breakpoints(root / "a" / "loop.cu", {"line": 6})[0]["verified"] is False
        assert client.breakpoints(root / "c" / "loop.cu", {"line": 5})[0]["message"] == (
            "`loop.cu` is not a source of `kernel.ptx`"
        )
        client.breakpoints(root / "a" / "loop.cu", {"line": 4, "hitCondition": "3"})
        assert client.breakpoints(root / "b" / "loop.cu", {"line": 6})[0]["verified"] is True
        client.body("configurationDone")
        for one, line in (("a", 4), ("b", 6)):
            stop = client.event("stopped")
            frame = client.frame(stop["threadId"])
            assert frame["line"] == line
            assert frame["source"] == {"name": "loop.cu", "path": str(root / one / "loop.cu")}
            client.breakpoints(root / "a" / "loop.cu")
            client.body("continue", threadId=stop["threadId"])
