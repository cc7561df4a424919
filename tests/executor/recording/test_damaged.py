"""Files that are no recordings, or not any more, are refused with one clear line."""

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from ptx_lsp.executor import RecordingFile, Surface, Texture, launch
from ptx_lsp.executor.recording import archive
from ptx_lsp.executor.recording.archive import is_recording, read_recording
from ptx_lsp.executor.recording.fields import RecordingError
from ptx_lsp.executor.recording.recorder import replayed

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.global .texref image;
.global .surfref sharp;
.global .u32 counts[4] = {1, 2, 3, 4};
.extern .func (.param .b64 p) malloc (.param .b64 size);
.visible .entry k(.param .u64 x, .param .u32 n)
{
	.reg .b32 %r<4>; .reg .b64 %rd<3>;
	ld.param.u64 %rd0, [x];
	mov.u32 %r0, %tid.x;
	ld.global.u32 %r1, [counts];
	st.global.u32 [%rd0], %r1;
	ret;
}
"""
Edit = Callable[[dict[str, object]], object]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("recorded") / "k.ptxrec"
    launch(
        KERNEL, entry="k", grid=1, block=4, args=[np.arange(4, dtype=np.uint32), 3],
        bind={
            "image": Texture(np.arange(8, dtype=np.float32).reshape(2, 4), border=(0, 1, float("inf"), 0)),
            "sharp": Surface(np.zeros(4, np.uint8)),
        },
        check=True, recorder=RecordingFile(path),
    )
    return path.read_bytes()


def _refused(data: bytes, folder: Path) -> str:
    """The error of a file; "" if it can be repeated."""
    path = folder / "x.ptxrec"
    path.write_bytes(data)
    try:
        replayed(read_recording(path), lambda text: None)
    except RecordingError as error:
        assert "\n" not in str(error)
        return str(error)
    return ""


def test_random_changes_of_bytes(recorded: bytes, tmp_path: Path) -> None:
    chosen = random.Random(7)
    refused = 0
    for _ in range(1500):
        data = bytearray(recorded)
        for _ in range(chosen.randint(1, 8)):
            at = chosen.randrange(len(data))
            match chosen.randrange(3):
                case 0:
                    data[at] = chosen.randrange(256)
                case 1:
                    del data[at : at + chosen.randint(1, 40)]
                case _:
                    data[at:at] = bytes(chosen.randrange(256) for _ in range(chosen.randint(1, 8)))
        refused += bool(_refused(bytes(data), tmp_path))
    assert refused > 1000


def _changed(recorded: bytes, name: str, edit: Edit) -> bytes:
    """The file with another version of one of its JSON objects."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(recorded)) as old, zipfile.ZipFile(written, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == name:
                fields = cast("dict[str, object]", json.loads(data))
                edit(fields)
                data = json.dumps(fields).encode()
            new.writestr(info.filename, data)
    return written.getvalue()


VALUES: tuple[object, ...] = (
    None, True, -1, 0, 1, 7, 1 << 31, 1 << 63, 1 << 64, 1 << 5000, 0.5, "", "x", "k",
    *(json.loads(text) for text in ("[]", "[0]", "[1, 2, 3]", "{}", "[[]]", "[{}]", "[-1, 5]")),
)


def _places(value: object, found: list[tuple[object, object]]) -> None:
    """Each container in a JSON value with each of its keys."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, object]", value).items():
            found.append((cast(object, value), key))
            _places(inner, found)
    elif isinstance(value, list):
        for at, inner in enumerate(cast("list[object]", value)):
            found.append((cast(object, value), at))
            _places(inner, found)


@pytest.mark.parametrize(("name", "kinds"), [("recording.json", 15), ("outcome.json", 6)])
def test_random_changes_of_fields(name: str, kinds: int, recorded: bytes, tmp_path: Path) -> None:
    chosen = random.Random(11)

    def edit(fields: dict[str, object]) -> None:
        places: list[tuple[object, object]] = []
        _places(fields, places)
        container, key = chosen.choice(places)
        if chosen.random() < 0.15:
            del cast("dict[object, object]", container)[key]
        else:
            cast("dict[object, object]", container)[key] = chosen.choice(VALUES)

    found = {_refused(_changed(recorded, name, edit), tmp_path) for _ in range(600)}
    assert len(found) > kinds


@pytest.mark.parametrize(("data", "words"), [
    (b"", "not a recording, or damaged"),
    (b"PK\x03\x04", "not a recording, or damaged"),
    (b".version 8.0", "not a recording, or damaged"),
])
def test_other_files(data: bytes, words: str, tmp_path: Path) -> None:
    assert words in _refused(data, tmp_path)


def test_a_newer_version(recorded: bytes, tmp_path: Path) -> None:
    data = _changed(
        recorded, "recording.json", lambda fields: fields.update(version=2, producer="ptx-lsp 9.0")
    )
    assert "has version 2 of the format, of ptx-lsp 9.0" in _refused(data, tmp_path)


def test_contents_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.ptxrec"

    def record() -> None:
        arguments = [np.zeros(25_000, np.uint32), 1]
        launch(KERNEL, entry="k", grid=1, block=1, args=arguments, recorder=RecordingFile(path))

    record()
    data = path.read_bytes()
    assert len(data) < 10_000
    path.unlink()
    monkeypatch.setattr(archive, "MOST_BYTES", 50_000)
    assert "larger than 50000 bytes" in _refused(data, tmp_path)
    with pytest.raises(RecordingError, match=r"too large for a recording: 1000\d\d bytes of at most 25000"):
        record()
    assert not path.exists()


def test_what_is_a_recording(recorded: bytes, tmp_path: Path) -> None:
    for name, data, wanted in (("a", recorded, True), ("b.ptxrec", b"", True), ("c.ptx", b"PK", False)):
        (tmp_path / name).write_bytes(data)
        assert is_recording(tmp_path / name) == wanted
    assert not is_recording(tmp_path / "absent")
