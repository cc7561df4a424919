"""A control flow graph in DOT, the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.details import Flow, FlowBlock, FlowEdge, Turn

MOST_OPCODES = 6
_TURNS: dict[Turn, str] = {"divergent": "divergent", "unknown": "may diverge"}


def dot(flow: Flow) -> Iterator[str]:
    """The lines of the graph. Blocks that split warps are orange, those that may are dashed."""
    yield f"digraph {_quoted(flow.name)} {{"
    yield '  node [shape=box, fontname="monospace", fontsize=10];'
    yield '  edge [fontname="monospace", fontsize=9];'
    for block in flow.blocks:
        text = "".join(f"{_escaped(line)}\\l" for line in told(block, len(flow.blocks)))
        yield f'  b{block.number} [label="{text}"{_colours(block)}];'
    for edge in flow.edges:
        yield f"  b{edge.source} -> b{edge.target}{_style(edge)};"
    yield "}"


def told(block: FlowBlock, count: int) -> list[str]:
    """The lines of its box: name, place, the first and last opcodes, how it is left; `count` is the number
    of blocks, the last of which is the exit.
    """
    name = f"block {block.number}" if block.number < count - 1 else "exit"
    lines = [" ".join((name, *block.labels))]
    if not block.opcodes:
        return lines
    if block.first_line == block.last_line:
        lines[0] += f", line {block.first_line}"
    else:
        lines[0] += f", lines {block.first_line}-{block.last_line}"
    if not block.is_reached:
        lines.append("never reached")
    half = MOST_OPCODES // 2
    more = len(block.opcodes) - 2 * half
    if more > 1:
        lines += [*block.opcodes[:half], f"... {more} more", *block.opcodes[-half:]]
    else:
        lines += block.opcodes
    if block.turn in _TURNS:
        lines.append(f"[{_TURNS[block.turn]}]")
    return lines


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
