"""Definition of `.loc`: the source line, wherever the source file is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx_lsp.server.features.source_files import source_file
from tests.server.connection import Connection, ResponseError, of_file

PTX = """.version 8.5
.target sm_90
.address_size 64
.entry k()
{
    .loc 1 7 3
    ret;
    .loc 2 1 1
    ret;
}
.file 1 "PATH"
.file 2 "absent.cu"
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("{there}/project/src/a.cu", "project/src/a.cu"),
        ("src/a.cu", "project/src/a.cu"),
        ("/build/machine/src/a.cu", "project/src/a.cu"),
        ("C:\\\\build\\\\src\\\\a.cu", "project/src/a.cu"),
        ("/elsewhere/b.cu", "project/out/b.cu"),
        ("../src/a.cu", "project/src/a.cu"),
        ("/build/out/b.cu", "project/out/b.cu"),
        ("/elsewhere/c.cu", None),
        ("src", None),
        ("", None),
        ("a\0b.cu", None),
        ("x" * 5000, None),
    ],
)
def test_where_a_source_file_is(tmp_path: Path, name: str, expected: str | None) -> None:
    for path in ("project/src/a.cu", "project/out/b.cu", "project/out/k.ptx"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    own = (tmp_path / "project/out/k.ptx").as_uri()
    name = name.replace("{there}", str(tmp_path))
    found = source_file(name, own, (str(tmp_path / "project"),))
    assert (found.resolve() if found else None) == (tmp_path / expected if expected else None)


def test_definition_of_a_location(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text("\n" * 9)
    uri = (tmp_path / "k.ptx").as_uri()
    with Connection() as client:
        client.open(uri, PTX.replace("PATH", "/src/a.cu"))
        found = client.request("textDocument/definition", of_file(uri, position={"line": 5, "character": 8}))
        place = {"line": 6, "character": 2}
        with pytest.raises(ResponseError, match=r"`absent\.cu` was not found"):
            client.request("textDocument/definition", of_file(uri, position={"line": 7, "character": 8}))
        assert found == [{"uri": (tmp_path / "a.cu").as_uri(), "range": {"start": place, "end": place}}]
