"""Gives the memory of closed files back to the operating system, and loads at the start what stays.

Python frees an arena of a megabyte once nothing in it is used. A few small objects that remain of each file
keep nearly all arenas: results in caches, names of the text that the scanner knows (`process_tables.py`), and
the free lists and the attribute cache of the interpreter. These are dropped as well. The caches fill again
from the files that are open.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import cast, get_args, get_type_hints

from cattrs import Converter
from lsprotocol import types
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from ptx_lsp.containers.metadata_beside import metadata_formats
from ptx_lsp.ide.cursor.kernel_metrics import kernel_metrics
from ptx_lsp.isa.schema.table import load_all
from ptx_lsp.lazy_pattern import compile_patterns
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.instructions.shapes import forget_shapes
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import make_constructors
from ptx_lsp.process_tables import empty_process_tables
from ptx_lsp.syntax.document import Document
from ptx_lsp.syntax.parsing import parse
from ptx_lsp.text import Edit, Source

MUCH = 1_000_000
"""Closed files of this many bytes are worth it."""
DELAY = 1.0
"""Seconds after a file was closed: often several are, and their analyses have to end first."""

_PASSES = 2
"""What is registered while converters are generated, or first run, makes it forget those that it has."""
_SAMPLE = JsonRPCResponseMessage(0, "2.0", [{}])


def preload() -> None:
    """Loads what the first file would load: modules that are imported when needed, for which a small kernel
    is analysed and edited, the table of instructions, and constructors. They stay, and between the objects of
    a file they would keep its memory.
    """
    document = Document.read(Source(_KERNEL))
    at = _KERNEL.index(b"%r1, %tid") + 2
    before = Module(document)
    module = Module(document.edited(Edit(at, at + 1, b"2")), before)
    LintSession(module, previous=LintSession(before))
    for function in module.functions:
        kernel_metrics(function)
    module.dispose(module)
    load_all()
    metadata_formats()
    make_constructors()
    compile_patterns()


def preload_thread() -> None:
    """Creates what each thread has of its own."""
    parse(b"")


def prepare_converter(converter: Converter, methods: Iterable[str]) -> None:
    """Generates what converts messages, for these methods of LSP, for messages that the server sends by
    itself, and for all types that results consist of. By default, that is done when the first message of a
    kind comes; it stays, too.
    """
    requests: list[object] = []
    pending: list[object] = []
    for method in methods:
        request, result, *_ = types.METHOD_TO_TYPES.get(method, (None, None))
        requests += [request] if request is not None else []
        pending.append(result)
    for method, (message, *_) in types.METHOD_TO_TYPES.items():
        if types.message_direction(method) != "clientToServer":
            pending.append(message)
    seen: dict[object, bool] = {}
    while pending:
        one = pending.pop()
        if one not in seen:
            seen[one] = isinstance(one, type) and hasattr(one, "__attrs_attrs__")
            pending += get_type_hints(one).values() if seen[one] else get_args(one)
    for _ in range(_PASSES):
        converter.unstructure(_SAMPLE)
        for request in requests:
            converter.get_structure_hook(request)
        for one, is_class in seen.items():
            if is_class:
                converter.get_unstructure_hook(one)


def give_back() -> None:
    """Drops what is kept only to save time, and returns free memory to the system."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ptx_lsp."):
            for value in list(vars(module).values()):
                if isinstance(value, _CACHED) and (value.cache_parameters()["maxsize"] or 0) > 1:
                    value.cache_clear()  # others hold parts of the instruction table
    forget_shapes()
    empty_process_tables()
    _forget_attributes()
    gc.collect()  # it also empties the free lists; large results are frozen, so it does not take long
    trim = _trim()
    if trim is not None:
        trim(0)


def _forget_attributes() -> None:
    """Empties the interpreter's cache of the attributes of classes. It keeps the names that were looked up,
    and each name that code in C looks up is a new string.
    """
    for name in ("_clear_internal_caches", "_clear_type_cache"):  # the second before Python 3.13
        clear = getattr(sys, name, None)
        if clear is not None:
            clear()
            break


@cache
def _trim() -> Callable[[int], int] | None:
    """glibc's `malloc_trim`: it keeps free memory between blocks that are used otherwise."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return cast("Callable[[int], int]", ctypes.CDLL(None).malloc_trim)
    except (AttributeError, OSError):
        return None


_KERNEL = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra done;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd2], %r2;
done:
    ret;
}
"""
_CACHED = type(_trim)
"""The type of functions with `lru_cache`."""
