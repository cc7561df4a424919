"""The pages avoid phrases that are not idiomatic English, with the phrase to use instead.

Code, file names and quoted messages are not checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = {"coverage.md"}
PAGES = [
    page
    for folder in (ROOT, ROOT / "docs", ROOT / "vscode-extension")
    for page in sorted(folder.glob("*.md"))
    if page.name not in GENERATED
]
PHRASES = {
    r"behind": "after",
    r"tells?( of)?|told|telling": "report, show, say",
    r"(comes?|came) to": "reach",
    r"pass(es|ed|ing)? over": "ignore",
    r"mend(s|ed|ing)?": "fix",
    r"(?<!there )(is|are) no(?!\s+(longer|more|later)\b)": "is not a",
    r"anew": "again",
    r"whatever": "any",
    r"an information": "information",
    r"as it is\b|takes? away|go(es)? round": "a direct phrase",
    r"hold against|held against": "check against",
    r"(one|file|line) an? (file|line|finding|kernel|rule|format)": "per",
}
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\"", re.MULTILINE | re.DOTALL)


def unidiomatic(text: str) -> Iterator[str]:
    """The phrases of a page, with their line and what to write."""
    prose = _CODE.sub(lambda found: "\n" * found[0].count("\n") or "_", text)
    for phrase, instead in PHRASES.items():
        for found in re.finditer(rf"\b({phrase})\b", prose, re.IGNORECASE):
            yield f"line {prose.count(chr(10), 0, found.start()) + 1}: `{found[0]}`, write {instead}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_phrases(page: Path) -> None:
    assert not list(unidiomatic(page.read_text(encoding="utf-8")))


def test_what_is_found() -> None:
    text = (
        "A comment behind `the tells` code.\n```\nbehind\n```\n"
        "This is no error. There is no error. It is no longer one.\n"
    )
    assert list(unidiomatic(text)) == [
        "line 1: `behind`, write after", "line 5: `is no`, write is not a"
    ]
