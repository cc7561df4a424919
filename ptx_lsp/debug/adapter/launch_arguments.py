"""The arguments of a launch request."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ptx_lsp.debug.adapter.messages import Arguments
from ptx_lsp.debug.program import Program, Settings, checked_path, kernel
from ptx_lsp.debug.program_text import program_text
from ptx_lsp.debug.recorded_program import recorded_program
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.launching.launch_comment import launch_comments
from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.executor.recording.archive import is_recording
from ptx_lsp.launch_file import LaunchFile, kernel_arguments, read_launch_file
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for


def program(given: Arguments) -> Program:
    """The program of a launch request; what it leaves out is in a launch file or a launch comment. Raises
    RequestError.
    """
    recording = _path(given.text("recording"))
    if recording is not None:
        return recorded_program(recording, check=given.flag("check"))
    file = _launch_file(given)
    name = given.text("program") or (str(file.file) if file is not None and file.file else "")
    path = _path(name)
    if path is not None and is_recording(path):
        return recorded_program(path, check=given.flag("check"))
    text = program_text(name, given.text("entry") or (file.entry if file is not None else None) or "")
    path, module = text.address, text.module
    known = _of_comment(given, path, module) if file is None else _of_file(file, given, path, module)
    held = {str(path): module.document.source.text} if text.is_member else {}
    return Program(path, module, _settings(given, known), held=held)


def _path(text: str) -> Path | None:
    """The path that a text is; None if it is empty. Raises RequestError if it cannot be one."""
    try:
        return Path(checked_path(text)).expanduser() if text else None
    except RuntimeError as error:  # an unknown home folder
        raise RequestError(f"cannot read `{text}`: {error}") from None


def _launch_file(given: Arguments) -> LaunchFile | None:
    path = _path(given.text("launchFile"))
    try:
        return None if path is None else read_launch_file(path.resolve())
    except (OSError, SpecError) as error:
        raise RequestError(str(error)) from None


def _of_file(file: LaunchFile, given: Arguments, path: Path, module: Module) -> Settings:
    found = kernel(module, given.text("entry") or file.entry or "")
    try:
        specs, bound = ((), ()) if given.has("args") else kernel_arguments(found, file.arguments)
    except SpecError as error:
        raise RequestError(str(error)) from None
    known = Settings(
        path, found.name, file.grid or (), file.block or (), file.cluster or (), file.shared or 0, specs,
        bound, file.seed or 0, folder=file.folder, device=file.device, cooperative=file.cooperative,
    )
    return known if file.limit is None else replace(known, limit=file.limit)


def _of_comment(given: Arguments, path: Path, module: Module) -> Settings:
    """The launch of the comment that is asked for, else of the first, of the file or of the kernel."""
    entry, line = given.text("entry"), given.number("launchComment")
    named = names_for(entry, (one.name for one in module.functions if one.is_kernel))
    entry = named[0] if len(named) == 1 else entry
    comments = [one for one in launch_comments(module) if entry in ("", one.entry) and line in (0, one.line)]
    if line and not comments:
        what = f"launch comment of `{entry}`" if entry else "launch comment"
        raise RequestError(f"line {line} of `{path.name}` has no {what}")
    one = comments[0] if comments else None
    if one is not None and one.problem and not given.has("args"):
        raise RequestError(f"line {one.line}: {one.problem}")
    if one is None or one.problem:
        return Settings(path, entry, (), ())
    return Settings(
        path, one.entry, one.grid, one.block, one.cluster, one.shared_bytes, one.specs, one.bound, one.seed
    )


def _settings(given: Arguments, known: Settings) -> Settings:
    """A launch with the arguments of the request, which take precedence."""
    for key in ("grid", "block", "cluster"):
        if given.has(key) and not given.sizes(key):
            raise RequestError(f"`{key}` must be a number, or a list of up to three")
    if given.number("shared") < 0:
        raise RequestError("`shared` must not be negative")
    if len(given.texts("args")) != len(given.each("args")):
        raise RequestError("`args` must be a list of texts such as `u32:7`")
    found = replace(
        known, grid=given.sizes("grid") or known.grid, block=given.sizes("block") or known.block,
        cluster=given.sizes("cluster") or known.cluster,
        shared_bytes=given.number("shared") if given.has("shared") else known.shared_bytes,
        specs=tuple(given.texts("args")) if given.has("args") else known.specs,
        seed=given.number("seed") if given.has("seed") else known.seed, is_checked=given.flag("check"),
        folder=None if given.has("args") else known.folder,
    )
    for key, size in (("grid", found.grid), ("block", found.block)):
        if not size:
            raise RequestError(f"`{key}` is missing, and `{known.path.name}` has no launch comment with it")
    return found
