"""The rule `unused-suppression`; `ptx_lsp.lint.configuration.suppression` computes its findings."""

from __future__ import annotations

from ptx_lsp.lint.rule import Rule

_DOCUMENTATION = """\
A comment that silences nothing.

## What it does
Reports a `// ptx-lint: ignore[...]` or `ignore-file[...]` with a rule that finds nothing there, with a rule
that does not exist, or with a word that means nothing. Rules that were not run are not reported.

## Why it matters
What the comment excused is gone. If it stays, it will hide the next mistake in that line.

## Example
```ptx
.version 8.5
.target sm_90
.address_size 64
.entry kernel()
{
    ret;  // ptx-lint: ignore[undeclared-name]
}
```

## Use instead
```ptx
.version 8.5
.target sm_90
.address_size 64
.entry kernel()
{
    ret;
}
```

## Fix safety
The fix removes the rule from the comment, or the comment where no other is in it. It is safe.
"""

unused_suppression = Rule(
    "unused-suppression", "W290", "warning", _DOCUMENTATION, on_comments=True, tag="unnecessary",
    words=("ptx-lint:",),
)
