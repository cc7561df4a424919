"""`ptx/machineCode`: source lines, PTX lines and machine code of a kernel, side by side."""

from __future__ import annotations

from collections.abc import Iterable

from ptx_lsp.ide.panels.source_lines import source_lines
from ptx_lsp.model.function import Function
from ptx_lsp.nvdisasm import MachineInstruction
from ptx_lsp.server.background.machine_code import MachineCode
from ptx_lsp.server.background.measuring import measured_json
from ptx_lsp.server.convert import Converter
from ptx_lsp.server.feature import handler
from ptx_lsp.server.features.panels import chosen
from ptx_lsp.server.json import Json, at, text
from ptx_lsp.server.session import Session, View
from ptx_lsp.text import Span


@handler("ptx/machineCode")
async def machine_code(session: Session, asked: object) -> Json:
    """Null if there is no kernel. Without ptxas or nvdisasm, source and PTX lines only, and the reason."""
    view = await session.view(text(at(at(asked, "textDocument"), "uri")) or "")
    if view is None:
        return None
    function = await session.threads.answer(chosen, view, asked)
    if function is None:
        return None
    settings = view.settings
    if settings.settings.ptxas:
        code = await session.disassembling.machine_code(view.file, view.snapshot.source, settings.target)
    else:
        code = MachineCode(problem="ptxas is turned off (setting `ptxas`)")
    return await session.threads.answer(_answer, view, function, code)


class _Sources:
    """The source files, numbered in the order in which they are met."""

    def __init__(self, convert: Converter) -> None:
        self._convert = convert
        self._numbers: dict[str, int] = {}

    def lines(self, chain: Iterable[tuple[str, int]]) -> Json:
        """Pairs of a file's number and a line from 0."""
        return [[self._numbers.setdefault(path, len(self._numbers)), line - 1] for path, line in chain]

    @property
    def listed(self) -> Json:
        return [{"path": path, "uri": self._convert.uri_of(path)} for path in self._numbers]


def _answer(view: View, function: Function, code: MachineCode) -> Json:
    sources = _Sources(view.convert)
    lines: list[Json] = [
        {"line": line, "source": sources.lines([(one.path, one.line) for one in chain])}
        for line, chain in source_lines(function).items()
    ]
    instructions: Json = None
    if not code.problem:
        instructions = [_instruction(one, sources) for one in code.functions.get(function.name, ())]
    resources = code.report.kernels.get(function.name) if code.report is not None else None
    return {
        "kernel": function.name,
        "displayName": view.display_name(function.name),
        "range": view.convert.json_range(Span(function.item.start, function.item.end)),
        "problem": code.problem or None,
        "measured": measured_json(resources, code.version) if resources is not None else None,
        "sources": sources.listed,
        "lines": lines,
        "instructions": instructions,
    }


def _instruction(one: MachineInstruction, sources: _Sources) -> Json:
    return {
        "address": one.address,
        "text": one.text,
        "labels": list[Json](one.labels),
        "line": one.ptx_line - 1 if one.ptx_line is not None else None,
        "source": sources.lines(one.source),
        "live": list[Json](one.live) if one.live is not None else None,
    }
