"""The file of a recorded launch (docs/debugger.md): a ZIP archive of JSON, texts and bytes.

1. `recording.json` comes first: the format, its version, and the launch. `kernel.ptx` has the PTX, `memory/N`
   a block of memory, `sources/N` a source. `outcome.json` is added when the run has ended.
2. Whoever wrote a file, to read it executes nothing of it, and takes no more memory than `MOST_BYTES`. What
   is damaged raises RecordingError.
"""

from __future__ import annotations

import io
import json
import struct
import zlib
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from ptx_lsp.executor.recording.fields import Fields, Json, RecordingError
from ptx_lsp.executor.recording.memory_image import MemoryImage
from ptx_lsp.executor.recording.outcome import Outcome, outcome_json, read_outcome
from ptx_lsp.executor.recording.recorded_launch import RecordedLaunch, launch_json, read_launch

SUFFIX = ".ptxrec"
FORMAT, VERSION = "ptx-recording", 1
MOST_BYTES = 1 << 31
"""Of the contents of an archive."""

_HEADER, _PTX, _OUTCOME = "recording.json", "kernel.ptx", "outcome.json"
_START = b"PK\x03\x04"
_NAME_AT = 30
"""Where an archive has the name of its first file."""
_FAST = 1


def is_recording(path: Path) -> bool:
    """Whether a file is to be read as a recording: by its suffix, or how it begins."""
    if path.suffix == SUFFIX:
        return True
    try:
        with path.open("rb") as file:
            start = file.read(_NAME_AT + len(_HEADER))
    except (OSError, ValueError):  # ValueError: it cannot be a path
        return False
    return start.startswith(_START) and start[_NAME_AT:] == _HEADER.encode()


def write_recording(recorded: RecordedLaunch, path: Path) -> None:
    """Writes a recording. Raises OSError, and RecordingError if it is larger than what can be read."""
    size = sum(map(len, recorded.memory.blocks))
    if size > MOST_BYTES // 2:
        raise RecordingError(
            f"the memory of the launch is too large for a recording: {size} bytes of at most "
            f"{MOST_BYTES // 2}"
        )
    header: Json = {"format": FORMAT, "version": VERSION, **launch_json(recorded)}
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=_FAST) as archive:
        archive.writestr(_HEADER, _encoded(header))
        archive.writestr(_PTX, recorded.text.encode())
        for number, block in enumerate(recorded.memory.blocks):
            archive.writestr(f"memory/{number}", block)
        for number, source in enumerate(recorded.sources.values()):
            archive.writestr(f"sources/{number}", source.encode())
        if recorded.outcome.status != "unfinished":
            archive.writestr(_OUTCOME, _encoded(outcome_json(recorded.outcome)))


def add_outcome(path: Path, outcome: Outcome) -> None:
    """Adds the outcome to the file of a launch. Raises OSError."""
    with ZipFile(path, "a", ZIP_DEFLATED) as archive:
        archive.writestr(_OUTCOME, _encoded(outcome_json(outcome)))


def read_recording(path: Path) -> RecordedLaunch:
    """The launch in a file. Raises OSError if the file cannot be read, and RecordingError."""
    with path.open("rb") as file:
        data = file.read(MOST_BYTES)
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            return _read(_Contents(archive))
    except (
        BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError, ValueError,
        OverflowError, OSError,
    ) as error:
        raise RecordingError(f"the file is not a recording, or damaged: {error}") from error
    except MemoryError as error:
        raise RecordingError("there is not enough memory for the recording") from error


def _read(contents: _Contents) -> RecordedLaunch:
    fields = Fields(contents.json(_HEADER), _HEADER)
    if fields.text("format") != FORMAT:
        raise RecordingError("the file is not a recording")
    version = fields.number("version")
    if version > VERSION:
        raise RecordingError(
            f"the recording has version {version} of the format, of {fields.text('producer')}; this program "
            f"reads version {VERSION}: a newer ptx-lsp is needed"
        )
    outcome = Outcome()
    if contents.has(_OUTCOME):
        outcome = read_outcome(Fields(contents.json(_OUTCOME), _OUTCOME))
    layout = fields.inner("memory")
    blocks = tuple(contents.data(f"memory/{number}") for number in range(layout.number("blocks", 1 << 16)))
    names = [Fields({"sources": one}).text("sources") for one in fields.values("sources")]
    sources = {name: contents.text(f"sources/{number}") for number, name in enumerate(names)}
    memory = MemoryImage(blocks, layout.json)
    return read_launch(fields, contents.text(_PTX), memory, sources, outcome)


class _Contents:
    """The files of an archive, which together have a limited size."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._left = MOST_BYTES

    def has(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def data(self, name: str) -> bytes:
        """Raises RecordingError if the file is not there, or is too large."""
        info = self._archive.NameToInfo.get(name)
        if info is None or info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise RecordingError(f"the recording is damaged: `{name}` is missing")
        if info.file_size <= self._left:
            with self._archive.open(info) as file:
                found = file.read(info.file_size)
            self._left -= len(found)
            if len(found) == info.file_size:
                return found
        raise RecordingError(f"the recording is damaged, or larger than {MOST_BYTES} bytes: `{name}`")

    def text(self, name: str) -> str:
        return self.data(name).decode()

    def json(self, name: str) -> object:
        try:
            found: object = json.loads(self.data(name))
        except RecursionError:
            raise RecordingError(f"the recording is damaged: `{name}` is nested too deep") from None
        return found


def _encoded(value: Json) -> bytes:
    return json.dumps(value, allow_nan=False).encode()
