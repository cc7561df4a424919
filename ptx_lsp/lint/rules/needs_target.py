"""The rule `needs-target`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.lint.unmet_requirements import unmet_requirements
from ptx_lsp.model.module import Module


@module_rule("needs-target", code="E168")
def needs_target(module: Module) -> Iterator[Finding]:
    """A feature that the target does not support.

    ## What it does
    Reports instructions, their modifiers and types, special registers, types and attributes of
    variables, and words of `.pragma` that the file's `.target` does not support in any version, and
    lists the targets that do. `unsupported-directive` reports directives.

    ## Why it matters
    ptxas rejects them.

    ## Example
    ```ptx
    .version 8.0
    .target sm_80
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.u16x2 %r1, %r2, %r3;
        ret;
    }
    ```

    ## Use instead
    ```ptx
    .version 8.0
    .target sm_90
    .address_size 64
    .entry kernel()
    {
        .reg .b32 %r<4>;
        .reg .f32 %f<4>;
        .reg .b64 %rd<4>;
        add.u16x2 %r1, %r2, %r3;
        ret;
    }
    ```

    ## Fix safety
    There is no fix: another target is another machine.
    """
    for need in unmet_requirements(module):
        if need.version is None:
            ways = ", or ".join(dict.fromkeys(str(way) for way in need.ways))
            yield Finding(
                need.place,
                f"{need.what} is not supported on `{module.target}`; it requires {ways}",
            )
