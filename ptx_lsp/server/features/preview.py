"""`ptx/preview`: the outcome of a launch comment, for a panel."""

from __future__ import annotations

from ptx_lsp.lint.results.dynamic_shared import dynamic_shared
from ptx_lsp.lint.results.metadata import metadata_of
from ptx_lsp.server.feature import panel
from ptx_lsp.server.features.panels import chosen
from ptx_lsp.server.json import Json
from ptx_lsp.server.session import View


@panel("ptx/preview")
def preview(view: View, asked: object) -> Json:
    """Runs a kernel as its first launch comment specifies; null if there is no kernel."""
    from ptx_lsp.executor.launching.launch_comment import suggestion
    from ptx_lsp.executor.launching.preview import preview_kernels

    function = chosen(view, asked)
    if function is None or not function.is_kernel:
        return None
    found = preview_kernels(view.module, entry=function.name)
    if not found:
        given = view.known
        known = dynamic_shared(function, given.dynamic_shared, metadata_of(function, given.metadata))
        return {
            "kernel": function.name,
            "displayName": view.display_name(function.name),
            "missing": suggestion(function, known.size),
        }
    one = found[0]
    names = view.display_names(buffer.name for buffer in one.buffers)
    error: Json = None
    if one.problem:
        error = {
            "message": one.problem,
            "kind": one.kind or "launch",
            "line": one.problem_line - 1 if one.problem_line else None,
            "lanes": [f"block {lane.block}, thread {lane.thread}" for lane in one.lanes],
        }
    return {
        "kernel": one.entry,
        "displayName": view.display_name(one.entry),
        "launch": {"grid": _three(one.grid), "block": _three(one.block), "line": one.line - 1},
        "buffers": [
            {
                "name": buffer.name,
                "displayName": names.get(buffer.name, buffer.name),
                "type": buffer.type,
                "count": buffer.size,
                "before": list[Json](buffer.before),
                "after": list[Json](buffer.after),
            }
            for buffer in one.buffers
        ],
        "values": [
            {
                "line": value.line - 1,
                "name": value.name,
                "type": value.type.removeprefix("."),
                "lanes": list[Json](value.lanes),
            }
            for value in one.values
        ],
        "instructions": one.instructions,
        "console": one.console,
        "findings": [
            {"kind": finding.kind, "message": finding.message, "line": finding.line - 1}
            for finding in one.findings
        ],
        "error": error,
    }


def _three(sizes: tuple[int, ...]) -> Json:
    """x, y and z; null where the launch comment could not be read so far."""
    return list[Json]((*sizes, 1, 1)[:3]) if sizes else None
