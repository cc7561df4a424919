"""Launch comments: `// ptx-run: grid=4 block=256 n=u32:1000 x=f32:arange(1000)`.

1. A comment of one line that begins with `ptx-run:`; words with `=`, spaces between them (none inside).
2. `grid=X[,Y[,Z]]` and `block=X[,Y[,Z]]` must be there; `cluster=X[,Y[,Z]]` are the blocks of a cluster,
   `shared=BYTES` is the dynamic shared memory, `seed=N` that of random buffers, `entry=NAME` the kernel.
   Without `entry` it is the kernel that the comment stands in, else the next one.
3. The others are arguments: `NAME=SPEC` or `NUMBER=SPEC` with a parameter's name or position from 0, or SPECs
   alone, in order. SPEC is as `specs.py` and `object_specs.py` say. A parameter named like a key is given
   by position.
4. `NAME=SPEC` with the name of a variable that is a texture, a sampler or a surface says what it stands for.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ptx_lsp.executor.launching.specs import TYPES, is_object
from ptx_lsp.executor.machine.tensor_map_fields import SIZE
from ptx_lsp.isa.device_limits import MAX_STATIC_SHARED_BYTES, MAX_THREADS_PER_BLOCK
from ptx_lsp.model.calls.dynamic_shared import uses_dynamic_shared
from ptx_lsp.model.directives.performance_directives import effective_directives
from ptx_lsp.model.function import Function
from ptx_lsp.model.instructions.layout import shared_bytes, size_bytes
from ptx_lsp.model.launch_blocks import COMMENT
from ptx_lsp.model.module import Module
from ptx_lsp.model.symbols import Declared, Variable
from ptx_lsp.symbol_lookup import names_for, shown_names

_TENSOR = "tensor(f32:zeros(1024),shape=32x32,box=8x8)"
_KEYS = ("grid", "block", "cluster", "shared", "seed", "entry")


class LaunchCommentError(ValueError):
    """An invalid launch comment."""


@dataclass(frozen=True)
class LaunchComment:
    """The launch that a comment specifies. `line` counts from 1. `specs` has one SPEC per parameter, in
    order. `cluster` is empty if the comment does not give it.

    `problem` is the error in the comment; "" if there is none.
    """

    line: int
    entry: str
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    shared_bytes: int = 0
    seed: int = 0
    specs: tuple[str, ...] = ()
    problem: str = ""
    cluster: tuple[int, ...] = ()
    bound: tuple[tuple[str, str], ...] = ()
    """The names of variables that are textures, samplers and surfaces, and their SPECs."""
    has_shared: bool = False
    """Whether the comment gives the dynamic shared memory."""


def launch_comments(module: Module) -> tuple[LaunchComment, ...]:
    """The launch comments of a file, in order."""
    found: list[LaunchComment] = []
    text = module.document.source.text
    for match in COMMENT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        entry = ""
        try:
            kernel = _kernel(module, match.start(), match[1])
            entry = kernel.name
            found.append(_read(line, kernel, match[1]))
        except ValueError as error:
            found.append(LaunchComment(line, entry, problem=str(error)))
    return tuple(found)


def suggestion(kernel: Function, dynamic_bytes: int | None = None) -> str:
    """An initial launch comment that a device accepts: the smallest grid, the block and the cluster that the
    directives demand or allow, otherwise one warp; dynamic shared memory if the kernel uses it.

    `dynamic_bytes` is its size if that is known; otherwise it is what every device grants. Each 64-bit
    parameter is a buffer with an element per thread, for a kernel of several sizes of a square of 32. There
    is a tensor per parameter of the size of a tensor map, and an object per texture, sampler and surface that
    the kernel names.
    """
    words, threads = _shape(kernel)
    if uses_dynamic_shared(kernel):
        left = max(0, MAX_STATIC_SHARED_BYTES - (shared_bytes(kernel) or 0))
        words.append(f"shared={left if dynamic_bytes is None else dynamic_bytes}")
    sizes = sum(one.type[2:] == "32" and one.type[1:2] != "f" for one in kernel.launched)
    elements = max(threads, 32 * 32 if sizes > 1 else 32)
    for parameter in kernel.launched:
        sort, bits = parameter.type[1:2], parameter.type[2:]
        if parameter.type in _OBJECTS:
            words.append(_object(kernel, parameter.name, parameter.type))
        elif isinstance(parameter, Variable) and parameter.declarator.dimensions:
            is_map = size_bytes(parameter) == SIZE  # no value of another structure could be written here
            words.append(f"{parameter.name}={_TENSOR if is_map else '?'}")
        elif bits == "64" and sort != "f":
            words.append(f"{parameter.name}=f32:zeros({elements})")
        elif parameter.type[1:] in TYPES:
            words.append(f"{parameter.name}={parameter.type[1:]}:{32 if sort != 'f' else 1}")
        else:
            words.append(f"{parameter.name}=?")
    named = [one for one in kernel.opaque if one.name in kernel.linked or one in kernel.body.variables]
    words += [_object(kernel, one.name, one.type) for one in named]
    return f"// ptx-run: {' '.join(words)}"


def _shape(kernel: Function) -> tuple[list[str], int]:
    """The words for grid, block and cluster, and the threads of the grid."""
    heads = effective_directives(kernel)
    block = _WARP
    for name in (".reqntid", ".maxntid"):
        given = heads.last(name)
        if given is not None and given.extent is not None and given.product:
            is_possible = 0 < given.product <= MAX_THREADS_PER_BLOCK
            block = given.extent if name == ".reqntid" or is_possible else _WARP
            break
    required = heads.last(".reqnctapercluster")
    cluster = required.extent if required is not None and required.product else None
    blocks = cluster if cluster is not None and heads.last(".blocksareclusters") is None else (1, 1, 1)
    words = [f"grid={_written(blocks)}", f"block={_written(block)}"]
    if cluster is None and heads.last(".explicitcluster") is not None:
        words.append("cluster=1")
    return words, math.prod((*block, *(cluster or ())))


def _written(size: tuple[int, int, int]) -> str:
    """`2,1,3`, without ones at the end."""
    x, y, z = size
    return f"{x},{y},{z}" if z > 1 else f"{x},{y}" if y > 1 else str(x)


_WARP = (32, 1, 1)
_OBJECTS = {
    ".texref": "texture(f32:zeros({size}),{words})", ".surfref": "surface(f32:zeros({size}),{words})",
    ".samplerref": "sampler()",
}
_SHAPES = {
    "1d": "16", "2d": "4x4", "3d": "2x4x4", "a1d": "2x16", "a2d": "2x4x4", "cube": "6x4x4",
    "acube": "1x6x4x4", "2dms": "2x4x4", "a2dms": "1x2x4x4",
}
"""By geometry."""


def _object(kernel: Function, name: str, type: str) -> str:
    """A word for a texture, sampler or surface, of the geometry of the first instruction that names it."""
    geometry = next(
        (word for one in kernel.body.instructions for word in one.opcode.text.split(".")
         if word in _SHAPES and re.search(rf"\[\s*{re.escape(name)}\s*[,\]]", kernel.text(one))),
        "2d",
    )
    shape = _SHAPES[geometry]
    size = math.prod(map(int, shape.split("x")))
    words = f"shape={shape}" if geometry in ("1d", "2d", "3d") else f"shape={shape},geometry={geometry}"
    return f"{name}={_OBJECTS.get(type, _OBJECTS['.texref']).format(size=size, words=words)}"


def _kernel(module: Module, offset: int, text: str) -> Function:
    kernels = [one for one in module.functions if one.is_kernel and one.node.body is not None]
    for word in text.split():
        if word.startswith("entry="):
            name = word.removeprefix("entry=")
            named = names_for(name, (one.name for one in kernels))
            if len(named) > 1:
                raise LaunchCommentError(f"`{name}` is ambiguous: {shown_names(named)}")
            if not named:
                raise LaunchCommentError(f"kernel `{name}` does not exist")
            return next(one for one in kernels if one.name == named[0])
    for one in kernels:
        if module.span(one.place(one.node)).end > offset:
            return one
    raise LaunchCommentError("no kernel follows; name one with `entry=NAME`")


def _read(line: int, kernel: Function, text: str) -> LaunchComment:
    values: dict[str, str] = {}
    specs: dict[int, str] = {}
    names = [_name(one) for one in kernel.launched]
    objects = {one.name for one in kernel.opaque} - {*names, *_KEYS}
    bound: list[tuple[str, str]] = []
    for word in text.split():
        key, equals, rest = ("", "", "") if is_object(word) else word.partition("=")
        if equals and key in _KEYS:
            if key in values:
                raise LaunchCommentError(f"`{word}`: duplicate `{key}`")
            values[key] = rest
        elif equals and key in objects:
            if key in dict(bound):
                raise LaunchCommentError(f"`{word}`: duplicate `{key}`")
            bound.append((key, rest))
        else:
            position, spec = _argument(word, key, equals, rest, names, specs)
            if position in specs:
                raise LaunchCommentError(f"`{word}`: duplicate parameter {position}")
            specs[position] = spec
    missing = [name for at, name in enumerate(names) if at not in specs]
    if missing:
        raise LaunchCommentError(f"`{missing[0]}`, a parameter of `{kernel.name}`, has no value")
    for key in ("grid", "block"):
        if key not in values:
            raise LaunchCommentError(f"`{key}=` is missing")
    return LaunchComment(
        line, kernel.name, _sizes("grid", values["grid"]), _sizes("block", values["block"]),
        _number("shared", values.get("shared", "0")), _number("seed", values.get("seed", "0")),
        tuple(specs[at] for at in range(len(names))),
        cluster=_sizes("cluster", values["cluster"]) if "cluster" in values else (), bound=tuple(bound),
        has_shared="shared" in values,
    )


def _argument(
    word: str, key: str, equals: str, rest: str, names: list[str], given: dict[int, str]
) -> tuple[int, str]:
    """The position of a parameter, and its value."""
    if not equals:
        position = next((at for at in range(len(names)) if at not in given), -1)
        if position < 0:
            raise LaunchCommentError(f"`{word}`: the kernel takes {len(names)} arguments")
        return position, word
    if key in names:
        return names.index(key), rest
    if key.isdecimal() and int(key) < len(names):
        return int(key), rest
    listed = ", ".join(f"`{name}`" for name in names) or "none"
    raise LaunchCommentError(f"`{key}` is not a parameter; expected {listed}")


def _name(parameter: Declared) -> str:
    return parameter.name


def _sizes(key: str, text: str) -> tuple[int, ...]:
    sizes = tuple(_number(key, one) for one in text.split(","))
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise LaunchCommentError(f"`{key}={text}`: expected one to three positive integers")
    return sizes


def _number(key: str, text: str) -> int:
    if not text.isdecimal():
        raise LaunchCommentError(f"`{key}={text}`: expected a number")
    return int(text)
