"""The rule `missing-comma`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.text import Edit


@block_rule("missing-comma", code="W287")
def missing_comma(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """Operands of inline assembly without a comma between them.

    ## What it does
    Reports operands of a block of inline assembly that directly follow another one.

    ## Why it matters
    nvcc accepts it. clang, and tools that are based on it, such as clangd, reject the block.

    ## Example
    ```cuda
    __device__ void store(unsigned *p, unsigned x) {
        asm volatile("st.global.u32 [%0], %1;" : : "l"(p) "r"(x) : "memory");
    }
    ```

    ## Use instead
    ```cuda
    __device__ void store(unsigned *p, unsigned x) {
        asm volatile("st.global.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
    }
    ```

    ## Fix safety
    The fix adds the comma. It is safe.
    """
    for span in checked.block.missing_commas:
        fix = Fix("Add the comma", (Edit(span.start, span.end, b","),), safe=True)
        yield BlockFinding(span, "missing comma between operands; clang rejects it", fix=fix)
