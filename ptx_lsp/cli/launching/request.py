"""The launch of `ptx-run`, from the command line, a launch file and launch comments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ptx_lsp.cli.collecting import collect, members_of
from ptx_lsp.cli.inputs import STDIN, Input, InputError, read
from ptx_lsp.cli.kernel_names import kernel_names
from ptx_lsp.cli.launching.run_options import Options
from ptx_lsp.embedded.languages import language_of
from ptx_lsp.executor.launching.launch_comment import LaunchComment, launch_comments
from ptx_lsp.executor.launching.specs import SpecError
from ptx_lsp.launch_file import LaunchFile, kernel_arguments, read_launch_file
from ptx_lsp.lint.configuration.selection import did_you_mean
from ptx_lsp.model.function import Function
from ptx_lsp.model.module import Module
from ptx_lsp.symbol_lookup import names_for, shown_names, spellings


@dataclass(frozen=True)
class Request:
    """One launch. `specs` are SPECs or `@file`, one per parameter, in order; `names` are the parameter names.
    """

    path: str
    source: str
    entry: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    specs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shared_bytes: int = 0
    seed: int = 0
    limit: int | None = None
    seconds: float | None = None
    out: tuple[str, ...] = ()
    line: int = 0
    """The line of the launch comment."""
    cluster: tuple[int, ...] = ()
    """Empty if the kernel determines it."""
    bound: tuple[tuple[str, str], ...] = ()
    """The names of variables that are textures, samplers and surfaces, and their SPECs."""
    device: str | None = None
    cooperative: bool | None = None


def requests(options: Options) -> list[Request]:
    """All launches. Raises SpecError for missing or invalid input, OSError for files that cannot be read."""
    file = read_launch_file(Path(options.launch)) if options.launch else LaunchFile(Path())
    entry = options.entry or file.entry
    path, source = _source(options, file, entry)
    module = Module.parse(source)
    if entry is not None:
        entry = _kernel(module, entry, path).name
    is_given = options.grid or options.block or options.arg or options.launch
    if not is_given:
        comments = [one for one in launch_comments(module) if entry in (None, one.entry)]
        if comments:
            return [_of_comment(one, options, path, source, module) for one in comments]
    kernel = _kernel(module, entry, path)
    grid, block = options.grid or file.grid, options.block or file.block
    for key, size in (("grid", grid), ("block", block)):
        if not size:
            raise SpecError(f"missing {key} size: use --{key} or a `// ptx-run:` comment")
    assert grid and block
    names = [one.name for one in kernel.launched]
    pairs = [_named(word, names) for word in options.arg] or list(file.arguments)
    specs, bound = kernel_arguments(kernel, pairs)
    request = Request(
        path, source, kernel.name, tuple(grid), tuple(block), specs,
        tuple(names), file.shared or 0, file.seed or 0, file.limit, file.seconds,
        tuple(options.out) or file.out, cluster=tuple(file.cluster or ()), bound=bound,
        device=file.device, cooperative=file.cooperative,
    )
    return [_with_options(request, options)]


def _with_options(request: Request, options: Options) -> Request:
    """The request with the command line's options, which take precedence."""
    return replace(
        request,
        cluster=tuple(options.cluster or request.cluster),
        shared_bytes=request.shared_bytes if options.shared is None else options.shared,
        device=options.device or request.device,
        cooperative=request.cooperative if options.cooperative is None else options.cooperative,
        seed=request.seed if options.seed is None else options.seed,
        limit=request.limit if options.limit is None else options.limit,
        seconds=request.seconds if options.seconds is None else options.seconds,
    )


_STDIN_NAME = "<stdin>"


def _source(options: Options, file: LaunchFile, entry: str | None) -> tuple[str, str]:
    """The name of the PTX file, or of the member of a container with `entry`, and its text."""
    path = Path(options.file) if options.file else file.file
    if path is None:
        raise SpecError("missing PTX file")
    is_stdin = options.file == STDIN
    members = list(collect([STDIN], _STDIN_NAME)) if is_stdin else members_of(str(path))
    if members is not None:
        whole = _STDIN_NAME if is_stdin else str(path)
        is_text = members[0].container is None
        name, data = _member(whole, members, None if is_text else entry)
        return name, data.decode("utf-8", "replace") + "\n"
    return str(path), path.read_text(encoding="utf-8", errors="replace") + "\n"


def _member(path: str, members: Sequence[Input], entry: str | None) -> tuple[str, bytes]:
    """The path and text of the only member, or of the only one with the kernel. Raises SpecError."""
    texts, unread = list[tuple[str, bytes]](), list[str]()
    for one in members:
        try:
            data = read(one)
        except InputError as error:
            unread.append(f"`{one.path}`: {error}")
            continue
        if entry is None or names_for(entry, kernel_names(data)):
            texts.append((one.path, data))
        if entry is None and len(members) > 1:
            listed = _listed(one.path for one in members)
            raise SpecError(f"`{path}` has {len(members)} PTX files: use --entry, or name one: {listed}")
    if not texts:
        raise SpecError(unread[0] if unread else f"`{path}`: no kernel `{entry}`")
    if len(texts) > 1:
        listed = _listed(name for name, _ in texts)
        raise SpecError(f"`{entry}` is in {len(texts)} PTX files of `{path}`; name one: {listed}")
    return texts[0]


_MOST_LISTED = 8


def _listed(paths: Iterable[str]) -> str:
    found = list(paths)
    more = len(found) - _MOST_LISTED
    return ", ".join(f"`{path}`" for path in found[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _kernel(module: Module, entry: str | None, path: str) -> Function:
    kernels = [one for one in module.functions if one.is_kernel and one.node.body is not None]
    names = shown_names([one.name for one in kernels])
    if not kernels:
        raise SpecError(_without_kernels(module, path))
    if entry is None:
        if len(kernels) != 1:
            raise SpecError(f"`{path}`: choose a kernel with --entry: {names}")
        return kernels[0]
    named = names_for(entry, (one.name for one in kernels))
    if len(named) > 1:
        raise SpecError(f"`{path}`: `{entry}` is ambiguous: {shown_names(named)}")
    if named:
        return next(one for one in kernels if one.name == named[0])
    near = did_you_mean(entry, spellings(one.name for one in kernels)) or f"; the kernels are {names}"
    raise SpecError(f"`{path}`: no kernel `{entry}`{near}")


def _without_kernels(module: Module, path: str) -> str:
    if path.endswith(".cu"):
        return f"`{path}` is not PTX: compile it with `nvcc -ptx`"
    if language_of(path) is not None:
        return f"`{path}` is not PTX"
    if module.version is None:
        return f"`{path}` is not PTX: it has no `.version`"
    return f"`{path}` has no kernel: no `.entry` with a body"


def _of_comment(
    comment: LaunchComment, options: Options, path: str, source: str, module: Module
) -> Request:
    if comment.problem:
        raise SpecError(f"{path}:{comment.line}: {comment.problem}")
    names = [one.name for one in module.definitions[comment.entry].launched]
    buffers = tuple(str(at) for at, spec in enumerate(comment.specs) if _is_changed(spec))
    buffers += tuple(name for name, spec in comment.bound if _is_changed(spec))
    request = Request(
        path, source, comment.entry, comment.grid, comment.block, comment.specs, tuple(names),
        comment.shared_bytes, comment.seed, out=tuple(options.out) or buffers, line=comment.line,
        cluster=comment.cluster, bound=comment.bound,
    )
    return _with_options(request, options)


def _is_changed(spec: str) -> bool:
    """Whether a kernel can modify the object of a SPEC."""
    return not spec.startswith(("texture(", "sampler(")) and ("[" in spec or "(" in spec)


def _named(word: str, names: Sequence[str]) -> tuple[str, str]:
    """The parts of `NAME=SPEC`; a SPEC alone has no name."""
    name, equals, spec = word.partition("=")
    return (name, spec) if equals and (name in names or name.isidentifier()) else ("", word)
