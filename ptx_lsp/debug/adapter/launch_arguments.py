"""The arguments of a launch request."""

from __future__ import annotations

from pathlib import Path

from ptx_lsp.debug.adapter.messages import Arguments
from ptx_lsp.debug.program import Program, Settings
from ptx_lsp.debug.request_error import RequestError
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.model.module import Module


def program(given: Arguments) -> Program:
    """The program of a launch request; what it leaves out is in a launch comment. Raises RequestError."""
    path = Path(given.text("program")).expanduser()
    if not given.text("program"):
        raise RequestError("`program` is missing: the path of a PTX file")
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise RequestError(f"cannot read `{path}`: {error.strerror}") from None
    module = Module.parse(text + "\n")
    return Program(path, module, _settings(given, path, module))


def _settings(given: Arguments, path: Path, module: Module) -> Settings:
    for key in ("grid", "block", "cluster"):
        if given.has(key) and not given.sizes(key):
            raise RequestError(f"`{key}` must be a number, or a list of up to three")
    if len(given.texts("args")) != len(given.each("args")):
        raise RequestError("`args` must be a list of texts such as `u32:7`")
    entry = given.text("entry")
    comments = [one for one in launch_comments(module) if entry in ("", one.entry)]
    comment = comments[0] if comments else None
    if comment is not None and comment.problem and not given.has("args"):
        raise RequestError(f"line {comment.line}: {comment.problem}")
    grid, block = given.sizes("grid"), given.sizes("block")
    if comment is None or comment.problem:
        comment = LaunchComment(0, entry)
    for key, size in (("grid", grid or comment.grid), ("block", block or comment.block)):
        if not size:
            raise RequestError(f"`{key}` is missing, and `{path.name}` has no launch comment with it")
    return Settings(
        path, entry or comment.entry, grid or comment.grid, block or comment.block,
        given.sizes("cluster") or comment.cluster,
        given.number("shared") if given.has("shared") else comment.shared_bytes,
        tuple(given.texts("args")) if given.has("args") else comment.specs, comment.bound,
        given.number("seed") if given.has("seed") else comment.seed, given.flag("check"),
    )
