"""A launch that can be repeated in another process, without its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ptx_lsp import __version__
from ptx_lsp.executor.launching.prepared_launch import LaunchOptions, PreparedLaunch
from ptx_lsp.executor.machine.errors import ExecutionError
from ptx_lsp.executor.machine.observer import Observer
from ptx_lsp.executor.recording.fields import Fields, Json, RecordingError
from ptx_lsp.executor.recording.memory_image import MemoryImage, image_of, resident
from ptx_lsp.executor.recording.outcome import Outcome
from ptx_lsp.model.directives.source_line import source_line
from ptx_lsp.model.module import Module

_SIZES = (1, 2, 3)
_MOST_SOURCE_BYTES = 1 << 20
_MOST_SOURCES = 64


@dataclass(frozen=True)
class RecordedLaunch:
    """A launch with all its inputs: PTX, sizes, options, parameters and memory.

    `path` is what the PTX was called where it was recorded, `sources` has the texts of sources that `.loc`
    names, by their paths, and `producer` the program that recorded the launch.
    """

    path: str
    text: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    cluster: tuple[int, ...]
    shared_bytes: int
    limit: int
    is_checked: bool
    is_weak: bool
    is_benign: bool
    device: str | None
    registers: int
    is_cooperative: bool | None
    parameters: bytes
    memory: MemoryImage
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    producer: str = f"ptx-lsp {__version__}"
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def seed(self) -> int:
        return self.outcome.seed

    def prepared(
        self, module: Module, observer: Observer | None, console: Callable[[str], object], *,
        check: bool = False,
    ) -> PreparedLaunch:
        """The launch in new memory, with the checks too if `check`. `module` is its PTX. Raises
        RecordingError if it is impossible.
        """
        kernel = module.definitions.get(self.entry)
        if kernel is None or not kernel.is_kernel:
            raise RecordingError(f"the recording is damaged: its PTX has no kernel `{self.entry}`")
        options = LaunchOptions(
            self.grid, self.block, (), self.shared_bytes, self.limit, cluster=self.cluster or None,
            check=self.is_checked or check, weak=self.is_weak, benign=self.is_benign,
            observers=() if observer is None else (observer,), console=console, device=self.device,
            registers=self.registers, cooperative=self.is_cooperative, parameters=self.parameters,
            resident=resident(self.memory, module, kernel),
        )
        try:
            return PreparedLaunch(module, kernel, options, is_fine=self.seed != 0)
        except ExecutionError as error:
            raise RecordingError(f"the recorded launch is refused: {error}") from error


def record_launch(launch: PreparedLaunch, path: str, outcome: Outcome) -> RecordedLaunch:
    """The record of a launch, whose memory is as it begins."""
    options, module = launch.options, launch.module
    return RecordedLaunch(
        path, module.document.source.text, launch.kernel.name, _sizes(options.grid), _sizes(options.block),
        () if options.cluster is None else _sizes(options.cluster), options.shared_bytes, options.limit,
        options.check, options.weak, options.benign, options.device, options.registers, options.cooperative,
        launch.parameters.tobytes(), image_of(launch), _sources(module, path), outcome=outcome,
    )


def launch_json(one: RecordedLaunch) -> dict[str, Json]:
    """All but the texts, the bytes of memory and the outcome."""
    return {
        "producer": one.producer, "path": one.path, "entry": one.entry, "grid": one.grid, "block": one.block,
        "cluster": one.cluster, "shared_bytes": one.shared_bytes, "limit": one.limit,
        "check": one.is_checked, "weak": one.is_weak, "benign": one.is_benign, "device": one.device,
        "registers": one.registers, "cooperative": one.is_cooperative, "parameters": one.parameters.hex(),
        "memory": one.memory.layout, "sources": list(one.sources),
    }


def read_launch(
    fields: Fields, text: str, memory: MemoryImage, sources: Mapping[str, str], outcome: Outcome
) -> RecordedLaunch:
    """Raises RecordingError."""
    try:
        parameters = bytes.fromhex(fields.text("parameters"))
    except ValueError:
        raise RecordingError("the recording is damaged: `parameters` must be hexadecimal") from None
    return RecordedLaunch(
        fields.text("path"), text, fields.text("entry"), fields.numbers("grid", _SIZES),
        fields.numbers("block", _SIZES), fields.numbers("cluster", (0, *_SIZES)),
        fields.number("shared_bytes"), fields.number("limit"), fields.flag("check"), fields.flag("weak"),
        fields.flag("benign"), fields.optional_text("device"), fields.number("registers"),
        fields.optional_flag("cooperative"), parameters, memory, sources, fields.text("producer"), outcome,
    )


def _sizes(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


def _sources(module: Module, path: str) -> dict[str, str]:
    """The sources of instructions that can be read, and lie in the folder of the PTX or the current one: PTX
    of a stranger must not name other files to be recorded.
    """
    folder = Path(path).parent
    lines = (source_line(one, node) for one in module.functions for node in one.body.instructions)
    names = {line.path for line in lines if line is not None}
    found: dict[str, str] = {}
    for name in sorted(names - {""})[:_MOST_SOURCES]:
        try:
            real = (folder / name).resolve()
            inside = any(real.is_relative_to(one.resolve()) for one in (folder, Path.cwd()))
            if inside and real.is_file() and real.stat().st_size <= _MOST_SOURCE_BYTES:
                found[name] = real.read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError):  # it cannot be read, is no text, or is no path
            continue
    return found
