"""Comments that silence findings."""

from __future__ import annotations

import pytest

from ptx_lsp.lint.configuration.suppression import Suppressions, insertion, suppressed
from ptx_lsp.lint.diagnostic import Diagnostic
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.registry import all_rules
from ptx_lsp.model.module import Module
from ptx_lsp.text import Source, Span

NAMES = {rule.name for rule in all_rules()}
HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n"


def found(body: str, ran: set[str] = NAMES) -> list[Diagnostic]:
    """The errors, and what is told of the comments, of a kernel with this body."""
    module = Module.parse(HEADER + body + "\n\tret;\n}\n")
    diagnostics = LintSession(module, all_rules()).diagnostics
    kept = suppressed(diagnostics, module.document.source, ran)
    return [one for one in kept if one.code[0] == "E" or one.rule == "unused-suppression"]


def rules(body: str) -> list[str]:
    return [one.rule for one in found(body)]


@pytest.mark.parametrize(
    "body",
    [
        "bra X; // ptx-lint: ignore[undeclared-name]",
        "bra X; // ptx-lint: ignore[E101] it is linked in later",
        "bra X; // ptx-lint:ignore [E10, S4] // and more",
        "bra X; // why // ptx-lint: ignore",
        "bra X; // ptx-lint: ignore[ALL]",
        "bra X; /* ptx-lint: ignore[E101] */",
        "/* ptx-lint: ignore[E101] */ bra X;",
        "// ptx-lint: ignore[E101]\nbra X;",
        "// ptx-lint: ignore[E101]\n\n// why\n/* and */ /* more */\nbra X;",
        "// ptx-lint: ignore[E104]\n// ptx-lint: ignore[E101]\nbra X;",
        "/*\n * ptx-lint: ignore[E101]\n */\nbra X;",
        "/* ptx-lint: ignore[E101]\n */ bra X;",
        "bra\n X; // ptx-lint: ignore[E101]",
        "bra X; bra X;\nbra Y;\n// ptx-lint: ignore-file[undeclared-name]",
        "// ptx-lint: ignore-file\nbra X;\nbra Y;",
    ],
)
def test_silenced(body: str) -> None:
    assert "undeclared-name" not in rules(body)


@pytest.mark.parametrize(
    "body",
    [
        "bra X; // ptx-lint: ignore[E102]",
        "bra X;\n// ptx-lint: ignore[E101]",
        "// ptx-lint: ignore[E101]\nmov.u32 %clock, 1;\nbra X;",
        "bra X; // see `ptx-lint: ignore[E101]`",
        '.pragma "// ptx-lint: ignore[E101]"; bra X;',
        "// ptx-lint: ignored[E101]\nbra X;",
    ],
)
def test_not_silenced(body: str) -> None:
    assert "undeclared-name" in rules(body)


@pytest.mark.parametrize(
    ("body", "said", "mended"),
    [
        ("\tret; // ptx-lint: ignore[E101]", "`E101` reports nothing in that line", "\tret;"),
        ("\tret; // ptx-lint: ignore", "this comment suppresses nothing", "\tret;"),
        ("// ptx-lint: ignore\n\tret;", "this comment suppresses nothing", "\tret;"),
        ("/* ptx-lint: ignore[E101] */ ret;", "`E101` reports nothing in that line", " ret;"),
        (
            "bra X; // ptx-lint: ignore[E102, E101] so", "`E102` reports nothing in that line",
            "bra X; // ptx-lint: ignore[E101] so",
        ),
        (
            "bra X; // ptx-lint: ignore[undeclared-nme, E101]",
            "unknown rule or code `undeclared-nme`; did you mean `undeclared-name`?",
            "bra X; // ptx-lint: ignore[E101]",
        ),
        ("// ptx-lint: ignore-file[E102]\n", "`E102` reports nothing in this file", ""),
        (
            "// ptx-lint: ignroe[E102]\nret;",
            "`ptx-lint: ignroe` is not a ptx-lint comment; did you mean `ignore`?", "ret;",
        ),
    ],
)
def test_unused(body: str, said: str, mended: str) -> None:
    (one,) = (one for one in found(body) if one.rule == "unused-suppression")
    assert one.message == said
    assert one.fix is not None
    assert one.fix.safe
    source = Source.of(HEADER + body + "\n\tret;\n}\n")
    for edit in one.fix.edits:
        source = source.edited(edit)
    assert source.data.decode().removeprefix(HEADER) == mended + "\n\tret;\n}\n"


def test_rules_that_did_not_run_may_be_named() -> None:
    body = "\tret; // ptx-lint: ignore[E101, ptxas]"
    assert found(body, {"unused-suppression"}) == []
    assert len(found(body)) == 1
    assert found(body, {"undeclared-name"}) == []


def test_of_itself() -> None:
    assert rules("// ptx-lint: ignore[E102, unused-suppression]\nret;") == []


@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        ("\tbra X;", 5, "\tbra X;  // ptx-lint: ignore[undeclared-name]"),
        ("\tbra X; // why", 5, "\tbra X; // why  // ptx-lint: ignore[undeclared-name]"),
        (
            "\tbra X; // ptx-lint: ignore[E102] so", 5,
            "\tbra X; // ptx-lint: ignore[E102, undeclared-name] so",
        ),
        ("\tbra X; /* a\n b */", 5, "\t/* ptx-lint: ignore[undeclared-name] */ bra X; /* a\n b */"),
        ("bra X; // a /* b", 5, "/* ptx-lint: ignore[undeclared-name] */ bra X; // a /* b"),
        (
            "/* a\n */ bra X; /* b\n */", 6,
            "/* a\n */ /* ptx-lint: ignore[undeclared-name] */ bra X; /* b\n */",
        ),
        ("// a /* b\nbra X;", 6, "// a /* b\nbra X;  // ptx-lint: ignore[undeclared-name]"),
    ],
)
def test_insertion(body: str, line: int, expected: str) -> None:
    edit = insertion(Source.of(HEADER + body), line, ["undeclared-name"])
    assert edit is not None
    mended = Source.of(HEADER + body).edited(edit).data.decode().removeprefix(HEADER)
    assert mended == expected
    assert "undeclared-name" not in rules(mended)


def test_a_line_that_goes_on_stays_one() -> None:
    for text, line in (("#define X \\\n 1\n", 0), ("#define X \\\r\n 1 \\\r\n 2\r\n", 1)):
        source = Source.of(text)
        edit = insertion(source, line, ["not-ptx"])
        assert edit is not None
        mended = source.edited(edit)
        assert mended.decoded(*mended.line_span(line)).endswith(" /* ptx-lint: ignore[not-ptx] */ \\")
        start = mended.line_start(line)
        told = Diagnostic("not-ptx", "E152", "error", "", Span(start, start + 1))
        assert suppressed([told], mended, NAMES) == []


def test_a_finding_in_a_line_without_code() -> None:
    source = Source.of("// ptx-lint: ignore[file-header] to be included\n.target sm_80\n")
    for start in (0, len(source.data) - 5):
        told = Diagnostic("file-header", "E160", "error", "", Span(start, start))
        assert suppressed([told], source, NAMES) == []


def test_many_comments_in_a_line_are_no_trouble() -> None:
    text = "// ptx-lint: ignore[E101]\n" + "/**/" * 20_000 + "x\n"
    (one,) = Suppressions(Source.of(text)).found
    assert one.line == 1
