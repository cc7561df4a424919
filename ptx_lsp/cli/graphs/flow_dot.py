"""A control flow graph in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.ide.panels.flow_groups import FlowBox
from ptx_lsp.ide.panels.flow_picture import box_text
from ptx_lsp.lint.results.details import Flow, FlowBlock, FlowEdge


def dot(flow: Flow) -> Iterator[str]:
    """The lines of the graph. Blocks with a divergent branch are orange, possibly divergent ones are dashed.
    """
    yield f"digraph {_quoted(flow.name)} {{"
    yield '  node [shape=box, fontname="monospace", fontsize=10];'
    yield '  edge [fontname="monospace", fontsize=9];'
    for block in flow.blocks:
        text = "".join(f"{_escaped(line)}\\l" for line in box_text(FlowBox((block,))))
        yield f'  b{block.number} [label="{text}"{_colours(block)}];'
    for edge in flow.edges:
        yield f"  b{edge.source} -> b{edge.target}{_style(edge)};"
    yield "}"


def _colours(block: FlowBlock) -> str:
    if not block.is_reached:
        return ", color=gray, fontcolor=gray"
    if block.turn == "divergent":
        return ', style="bold,filled", color="#c2410c", fillcolor="#ffedd5"'
    return ', style=dashed, color="#c2410c"' if block.turn == "unknown" else ""


def _style(edge: FlowEdge) -> str:
    found = [f'label="{_escaped(edge.condition)}"'] if edge.condition else []
    if not edge.is_known:
        found.append("style=dotted")
    elif edge.kind == "taken":
        found.append("color=blue")
    return f" [{', '.join(found)}]" if found else ""


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
