"""What closed files leave behind: objects are counted, and no memory is measured."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path
from threading import Barrier

from lsprotocol import types
from pygls.protocol import default_converter
from pygls.protocol.json_rpc import JsonRPCResponseMessage

from benchmarks.inputs import of_lines
from ptx_lsp.containers.metadata_beside import metadata_beside
from ptx_lsp.isa import special_registers
from ptx_lsp.isa.schema.table import entries, load_all, opcodes
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.model.instructions.shapes import shapes
from ptx_lsp.model.module import Module
from ptx_lsp.named_tuple import NamedTuple, make_constructors
from ptx_lsp.server.feature import all_features
from ptx_lsp.server.memory import give_back, preload, prepare_converter
from ptx_lsp.server.openfile import Snapshot
from ptx_lsp.server.threads import ANSWERERS, READERS, Threads
from ptx_lsp.syntax.document import Document
from ptx_lsp.text import Edit, Source

ROOT = Path(__file__).parents[2]


def _opened(data: bytes) -> tuple[Snapshot, LintSession]:
    snapshot = Snapshot(0, 1, Module(Document.read(Source(data))))
    return snapshot, LintSession(snapshot.module)


def _edited(snapshot: Snapshot, linting: LintSession) -> tuple[Snapshot, LintSession]:
    document = snapshot.module.document
    at = document.source.data.index(b"%r1,") + 3
    module = Module(document.edited(Edit(at, at, b"2")), snapshot.module)
    snapshot.newest = module
    return Snapshot(1, 2, module), LintSession(module, previous=linting)


def test_closed_files_leave_nothing_behind() -> None:
    """Caches, free lists and reference cycles: after a first round, which loads what is loaded once, hardly
    any block of memory is kept of some files, although no cycle is collected. A process of its own, as other
    tests leave blocks that come and go.
    """
    code = "from tests.server.test_memory import blocks; print(*blocks())"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    names, taken, left = map(int, run.stdout.split())
    assert taken > 50_000
    assert left < names / 4  # not even the names of functions, each of which would keep an arena


def blocks() -> tuple[int, int, int]:
    """The number of kernels, the blocks of memory that they take, and those that are left of them."""
    load_all()
    texts = [of_lines(lines) for lines in (300, 600, 900)]
    names = sum(text.count(b".entry ") for text in texts)
    gc.collect()
    gc.disable()
    try:
        counts: list[tuple[int, int]] = []
        for number in range(5):
            renamed = [text.replace(b".entry ", b".entry of_%d_" % number) for text in texts]
            give_back()
            before = sys.getallocatedblocks()
            files = [_edited(*_opened(text)) for text in renamed]
            for one in range(names):  # undeclared registers may be special ones
                assert special_registers.find(f"%of_{number}_{one}") is None
            opened = sys.getallocatedblocks()
            files.clear()
            gc.freeze()  # so that nothing is collected that is in a cycle
            give_back()
            counts.append((opened - before, sys.getallocatedblocks() - before))
            gc.unfreeze()
    finally:
        gc.enable()
    taken, left = (min(figures) for figures in zip(*counts[1:], strict=True))  # a leak is in every round
    return names, taken, left


def test_nothing_is_generated_for_the_first_messages() -> None:
    """What is generated stays, and between the objects of a file it would keep their memory. A process of its
    own, as other tests have sent such messages.
    """
    code = "from tests.server.test_memory import generated; print(*generated())"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    early, late = map(int, run.stdout.split())
    assert early > 100
    assert late == 0


def generated() -> tuple[int, int]:
    """How many functions are generated early, and for messages after that."""
    counts = [0, 0]
    phase = 0

    def count(event: str, _: object) -> None:
        counts[phase] += event == "compile"

    converter = default_converter()
    sys.addaudithook(count)
    prepare_converter(converter, all_features())
    phase = 1
    here = types.Range(types.Position(1, 2), types.Position(1, 3))
    report = types.RelatedFullDocumentDiagnosticReport([types.Diagnostic(here, "text")])
    for result in ([types.CodeLens(here, types.Command("a", "b"))], report, {"kernels": [1]}):
        converter.unstructure(JsonRPCResponseMessage(1, "2.0", result))
    position = {"textDocument": {"uri": "file:///a"}, "position": {"line": 1, "character": 2}}
    message = {"jsonrpc": "2.0", "id": 1, "method": types.TEXT_DOCUMENT_HOVER, "params": position}
    converter.structure(message, types.HoverRequest)
    asked = types.ConfigurationParams([types.ConfigurationItem("file:///a", "ptx")])
    converter.unstructure(types.ConfigurationRequest(1, asked))
    return counts[0], counts[1]


def test_nothing_is_loaded_for_the_first_file() -> None:
    """Neither what describes an opcode, nor how metadata are read. A process of its own, as other tests have
    loaded them.
    """
    code = "from tests.server.test_memory import loaded; print(loaded())"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0"]


def loaded() -> int:
    """How many modules are imported and look-ups are made for files after `preload`."""
    preload()
    modules, missed = len(sys.modules), entries.cache_info().misses
    metadata_beside("/none/a.ptx")
    for opcode in opcodes():
        entries(opcode)
    return len(sys.modules) - modules + entries.cache_info().misses - missed


def test_each_thread_is_prepared() -> None:
    all_at_once = Barrier(READERS + ANSWERERS + 2)
    threads = Threads()
    try:
        threads.begin_with(lambda: None, lambda: all_at_once.wait(60))
        all_at_once.wait(60)  # readers, answerers, the one that analyses, and this one
    finally:
        all_at_once.abort()
        threads.close()


def test_constructors_are_made_early() -> None:
    class Pair(NamedTuple):
        first: int
        second: int = 2

    assert "__new__" not in vars(Pair)
    make_constructors()
    assert "__new__" in vars(Pair)
    assert tuple(Pair(1)) == (1, 2)


def test_analysis_continues_after_memory_was_given_back() -> None:
    snapshot, linting = _opened(of_lines(300))
    known = [shapes(function) for function in snapshot.module.functions]
    give_back()
    edited, again = _edited(snapshot, linting)
    assert again.diagnostics == LintSession(Module(Document.parse(edited.source))).diagnostics
    assert [len(shapes(function)) for function in edited.module.functions] == list(map(len, known))
