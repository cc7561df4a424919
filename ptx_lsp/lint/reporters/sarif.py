"""SARIF 2.1.0 (OASIS), as GitHub code scanning, Azure DevOps and editors read it.

The place of a finding is the line of the user's own file according to `.loc` and `inlined_at`. Its PTX is a
related place, and so are the lines of inlined code; where there is no `.loc`, its place is in the PTX.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp import __version__
from ptx_lsp.lint.configuration.selection import OUTSIDE
from ptx_lsp.lint.diagnostic import Origin, Severity
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.lint.reporters.json import Value, dumps
from ptx_lsp.lint.reporters.places import uri
from ptx_lsp.lint.results.report import FileReport, Mark, Mending, Point, Reported
from ptx_lsp.lint.results.reporter import Run, reporter
from ptx_lsp.lint.rule import Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Severity, str] = {
    "error": "error", "warning": "warning", "info": "note", "hint": "note",
}
_KINDS = {"E": "correctness", "W": "suspicious", "P": "performance", "S": "style"}


@reporter("sarif", "SARIF 2.1.0, for code scanning")
def sarif(run: Run) -> Iterator[str]:
    """The whole log, with one run."""
    used = {found.rule for file in run.files for found in file.diagnostics}
    rules = [_rule(rule) for rule in all_rules() if rule.name in used]
    rules += [
        {"id": name, "name": name, "shortDescription": {"text": summary}}
        for name, (summary, *_) in OUTSIDE.items()
        if name in used
    ]
    places = {str(rule["id"]): index for index, rule in enumerate(rules)}
    failed = [file for file in run.files if file.error is not None or file.failures]
    whole: Value = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ptx-lint", "semanticVersion": __version__, "version": __version__,
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": not failed,
                "toolExecutionNotifications": [_notification(file) for file in failed],
            }],
            "results": [
                _result(file, found, places[found.rule])
                for file in run.files
                for found in file.diagnostics
            ],
        }],
    }
    yield dumps(whole)


def _rule(rule: Rule) -> dict[str, Value]:
    what = rule.documentation.partition("## What it does")[2].partition("##")[0].split()
    return {
        "id": rule.name,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": " ".join(what) or rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"code": rule.code, "tags": [_KINDS[rule.code[0]]]},
    }


def _notification(file: FileReport) -> Value:
    text = file.error or "; ".join(file.failures)
    return {
        "level": "error",
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(file.path)}}],
    }


def _result(file: FileReport, found: Reported, rule: int) -> Value:
    places: list[dict[str, Value]] = [_place(file.path, found.mark)]
    if found.source_line is not None:
        own, inner, outer = found.source_line, "inlined code", "inlined here"
        at = found.source_lines.index(own)
        places[0]["message"] = {"text": "the PTX"}
        places.insert(0, _located_origin(own))
        for number, one in enumerate(found.source_lines):
            if number != at:
                places.append(_located_origin(one) | {"message": {"text": inner if number < at else outer}})
    if found.function:
        places[0]["logicalLocations"] = [{"name": found.function, "kind": "function"}]
    first, *others = places
    related = [
        *others,
        *(_place(file.path, mark) | {"message": {"text": mark.message}} for mark in found.related),
    ]
    result: dict[str, Value] = {
        "ruleId": found.rule,
        "ruleIndex": rule,
        "level": _LEVELS[found.severity],
        "message": {"text": found.text.replace("](", "]\u200b(")},  # else a link, by 3.11.6
        "locations": [first],
        "partialFingerprints": {"ptxLint/v1": found.fingerprint},
    }
    if related:
        result["relatedLocations"] = [{"id": n, **place} for n, place in enumerate(related, 1)]
    fixes = [*filter(None, [found.fix]), *found.alternatives]
    if fixes:
        result["fixes"] = [_fix(file, one) for one in fixes]
    return result


def _fix(file: FileReport, fix: Mending) -> Value:
    replacements: list[Value] = [
        {
            "deletedRegion": _region(change.start, change.end),
            "insertedContent": {"text": change.text},
        }
        for change in fix.changes
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {"artifactLocation": _artifact(file.path), "replacements": replacements}
        ],
    }


def _place(path: str, mark: Mark) -> dict[str, Value]:
    return _located(path, _region(mark.start, mark.end))


def _located(path: str, region: dict[str, int]) -> dict[str, Value]:
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _located_origin(place: Origin) -> dict[str, Value]:
    return _located(place.path, {"startLine": place.line, "startColumn": place.column})


def _artifact(path: str) -> dict[str, Value]:
    reference, from_here = uri(path)
    return {"uri": reference, "uriBaseId": "%SRCROOT%"} if from_here else {"uri": reference}


def _region(start: Point, end: Point) -> dict[str, int]:
    return {
        "startLine": start.line, "startColumn": start.column,
        "endLine": end.line, "endColumn": end.column,
    }
