"""The pages of the site that are made from the code: rules, instructions, figures, formats, configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ptx_lsp.cli.explanations.explain import explain
from ptx_lsp.isa.schema.entry import Entry
from ptx_lsp.isa.schema.table import all_entries
from ptx_lsp.lint.configuration.budget import FIGURES
from ptx_lsp.lint.configuration.config import KEYS
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.results.reporter import reporters
from ptx_lsp.lint.results.style import Style
from ptx_lsp.lint.rule import Rule

ROOT = Path(__file__).parents[2]
TOP = {
    "README.md": "index.md", "ARCHITECTURE.md": "", "CONTRIBUTING.md": "", "CHANGELOG.md": "",
    "SECURITY.md": "",
}
"""Pages of the top folder, and what they are called on the site where that differs."""
_KINDS = {
    "E": "Errors: ptxas rejects it",
    "W": "Warnings: legal but suspect",
    "P": "Performance: slow",
    "S": "Style",
}


def pages() -> Iterator[tuple[str, str]]:
    """Path on the site and Markdown of every generated page."""
    for name, other in TOP.items():
        yield other or name, _from_top((ROOT / name).read_text(encoding="utf-8"))
    yield "rules/index.md", _rules()
    for rule in all_rules():
        yield f"rules/{rule.name}.md", _rule(rule)
    yield "instructions/index.md", _instructions()
    for group, rows in _groups().items():
        yield f"instructions/{group}.md", _group(group, rows)
    yield "reference.md", _reference()


def _from_top(text: str) -> str:
    """Links of the top folder, as they are from `docs`."""
    inside = re.sub(r"\]\((?!docs/|[a-z]+:|#)", "](../", text)
    for name, other in TOP.items():
        inside = inside.replace(f"](../{name}", f"]({other or name}")
    return without_links_out(inside.replace("](docs/", "]("))


def without_links_out(text: str) -> str:
    """Markdown in which links to files that are not on the site are their words only."""
    return re.sub(r"(?<!!)\[([^\]\n]+)\]\(\.\./[^)\s]*\)", r"\1", text)


def _rules() -> str:
    intro = "`ptx-lint --explain NAME` prints these pages. Hints run only if they are selected."
    lines = ["# Rules", "", intro]
    for kind, title in _KINDS.items():
        lines += ["", f"## {title}", "", "| code | rule | severity | | fix |", "|---|---|---|---|---|"]
        for rule in all_rules():
            if rule.code.startswith(kind):
                fix = "" if "There is no fix" in rule.documentation else "yes"
                lines.append(
                    f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.severity} | "
                    f"{rule.summary} | {fix} |"
                )
    return "\n".join(lines)


def _rule(rule: Rule) -> str:
    own = f"`{rule.code}` \u00b7 {rule.severity}"
    runs = " \u00b7 runs only where it is selected" if rule.severity == "hint" else ""
    silence = f"## Silence it\n```\n// ptx-lint: ignore[{rule.name}]\n```"
    return f"# {rule.name}\n\n{own}{runs}\n\n{rule.documentation}\n\n{silence}\n"


def _groups() -> dict[str, list[Entry]]:
    """The rows of the table by their file."""
    found: dict[str, list[Entry]] = {}
    for row in all_entries():
        found.setdefault(row.module.rpartition(".")[2], []).append(row)
    return dict(sorted(found.items()))


def _instructions() -> str:
    lines = [
        "# Instructions", "",
        f"The {len(all_entries())} rows of the instruction table, which drives linting, completion, "
        "hover and the executor. [Coverage](../coverage.md) shows how it agrees with ptxas.", "",
        "| file | instructions |", "|---|---|",
    ]
    for group, rows in _groups().items():
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(row.name for row in rows))
        lines.append(f"| [{group.replace('_', ' ')}]({group}.md) | {names} |")
    return "\n".join(lines)


def _group(group: str, rows: list[Entry]) -> str:
    lines = [f"# {group.replace('_', ' ').capitalize()}"]
    for row in sorted(rows, key=lambda row: row.name):
        lines += ["", f"## {row.name}", "", row.summary, "", "```text"]
        lines += _explained(row)
        lines.append("```")
    return "\n".join(lines)


def _explained(row: Entry) -> Iterator[str]:
    """What `--explain` says of a row, without its title and summary."""
    every = list(explain(row.name, Style()))
    starts = [i for i, line in enumerate(every) if line.endswith("(instruction)")]
    for start, end in zip(starts, [*starts[1:], len(every)], strict=True):
        if every[start].startswith(f"{row.name} ") and row.summary.split()[0] in every[start + 1]:
            yield from "\n".join(every[start + 2 : end]).strip("\n").splitlines()
            return


def _reference() -> str:
    lines = ["# Reference", "", "## Keys of the configuration", "", "| key | |", "|---|---|"]
    lines += [f"| `{key}` | {summary} |" for key, (_, summary) in KEYS.items()]
    lines += ["", "## Figures of budgets", "", "| figure | unit | is |", "|---|---|---|"]
    lines += [
        f"| `{name}` | {figure.unit} | {' or '.join(figure.says)} |" for name, figure in FIGURES.items()
    ]
    lines += ["", "## Formats", "", "| format | |", "|---|---|"]
    lines += [f"| `{one.name}` | {one.summary} |" for one in reporters().values()]
    return "\n".join(lines)
