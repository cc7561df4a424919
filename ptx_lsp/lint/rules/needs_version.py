"""The rule `needs-version`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.rule import module_rule
from ptx_lsp.lint.unmet_requirements import raise_version, unmet_requirements
from ptx_lsp.model.module import Module


@module_rule("needs-version", code="E167")
def needs_version(module: Module) -> Iterator[Finding]:
    """A feature that requires a newer `.version`.

    ## What it does
    Reports instructions, their modifiers and types, special registers, types and attributes of
    variables, initial values and parts of directives that this file's target supports but its `.version`
    does not. `unsupported-directive` reports the directives themselves.

    ## Why it matters
    ptxas rejects them.

    ## Example
    ```ptx
    .version 7.8
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
    The fix raises `.version` to the lowest sufficient one, which does not change the meaning of the
    file.
    """
    for need in unmet_requirements(module):
        if need.version is not None:
            has = module.version
            message = f"{need.what} requires PTX ISA {need.version}; the file declares {has}"
            yield Finding(need.place, message, fix=raise_version(module, need.version))
