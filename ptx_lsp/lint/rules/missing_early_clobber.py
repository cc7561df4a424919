"""The rule `missing-early-clobber`."""

from __future__ import annotations

from collections.abc import Iterator

from ptx_lsp.analyses.control_flow.cfg import cfg
from ptx_lsp.embedded.block import Operand
from ptx_lsp.lint.block_accesses import BlockAccesses, accesses
from ptx_lsp.lint.checked_block import BlockFinding, CheckedBlock
from ptx_lsp.lint.diagnostic import Fix, Related
from ptx_lsp.lint.rule import block_rule
from ptx_lsp.model.function import Function
from ptx_lsp.text import Edit


@block_rule("missing-early-clobber", code="W283")
def missing_early_clobber(checked: CheckedBlock) -> Iterator[BlockFinding]:
    """An output that is written before the last read of an input, without `&`.

    ## What it does
    Reports outputs of a block of inline assembly that are not early-clobbers (`"=&r"`) and that an
    instruction writes before another one reads an input of the same type. For an operand that is read and
    written (`"+r"`), the input must be the same expression.

    ## Why it matters
    Compilers may pass the input in the register of the output, because they assume that a block reads all
    inputs before it writes outputs. The write then destroys the input. nvcc 13.5 and LLVM do this where a
    value is updated in a loop or a branch, `x = f(x)`, also after inlining.

    ## Example
    ```cuda
    __device__ unsigned twice(unsigned x) {
        unsigned result;
        asm("add.u32 %0, %1, 1;\\n\\t"
            "mul.lo.u32 %0, %0, %1;" : "=r"(result) : "r"(x));
        return result;
    }
    ```

    ## Use instead
    ```cuda
    __device__ unsigned twice(unsigned x) {
        unsigned result;
        asm("add.u32 %0, %1, 1;\\n\\t"
            "mul.lo.u32 %0, %0, %1;" : "=&r"(result) : "r"(x));
        return result;
    }
    ```

    ## Fix safety
    The fix adds `&`. It is safe: it only keeps the compiler from sharing the register.
    """
    operands = checked.block.operands
    outputs = [one for one in operands if one.access != "read" and one.type and not one.early_clobber]
    inputs = [one for one in operands if one.access == "read" and one.type and one.tied_to is None]
    types = {one.type for one in inputs}
    if types.isdisjoint(one.type for one in outputs) or (known := accesses(checked)) is None:
        return
    for output in outputs:
        writes = known.writes(output)
        for other in inputs if writes else ():
            if not _may_share(output, other):
                continue
            changing = [number for number in writes if not _copies(known, number, other)]
            late = _late_read(checked.function, changing, known.reads(other))
            if late is not None:
                yield _finding(known, output, other, *late)
                break


def _may_share(output: Operand, other: Operand) -> bool:
    return output.type == other.type and (
        output.access == "write" or (output.expression == other.expression != "")
    )


def _copies(known: BlockAccesses, number: int, other: Operand) -> bool:
    """Whether an instruction only copies an input, which does no harm to it in the same register."""
    flow = known.flow
    return (
        flow.kinds[number].opcode == "mov"
        and flow.uses[number] == (known.index(other),)
        and len(flow.defs[number]) == 1
    )


def _late_read(
    function: Function, writes: list[int], reads: list[int]
) -> tuple[int, int] | None:
    """A write and a read that may follow it."""
    if not reads or not writes or (max(reads) <= writes[0] and not cfg(function).graph.is_branching):
        return None
    for write in writes:
        for read in reads:
            if not _exclude(function, write, read) and _follows(function, write, read):
                return write, read
    return None


def _exclude(function: Function, first: int, second: int) -> bool:
    """Whether two instructions have opposite guards, so that only one of them executes."""
    one, other = (function.body.instructions[number].guard for number in (first, second))
    if one is None or other is None or one.negated == other.negated:
        return False
    return function.text(one.predicate) == function.text(other.predicate)


def _follows(function: Function, first: int, second: int) -> bool:
    """Whether a path leads from the end of one instruction to another."""
    flow = cfg(function)
    start, goal = flow.block_of[first], flow.block_of[second]
    if start == goal and second > first:
        return True
    seen: set[int] = set()
    waiting = list(flow.blocks[start].successors)
    while waiting:
        block = waiting.pop()
        if block == goal:
            return True
        if block not in seen:
            seen.add(block)
            waiting += flow.blocks[block].successors
    return False


def _finding(
    known: BlockAccesses, output: Operand, other: Operand, write: int, read: int
) -> BlockFinding:
    wanted = output.constraint[:1] + "&" + output.constraint[1:]
    related = [
        Related(span, f"`{operand.name}` is {access} here")
        for operand, number, access in ((output, write, "written"), (other, read, "read"))
        for span in known.mentions(operand, number)[:1]
    ]
    fix = None
    if output.constraint[:1] in ("=", "+") and (at := output.constraint_at(1)) is not None:
        fix = Fix("Make it an early-clobber", (Edit(at, at, b"&"),), safe=True)
    remedy = f"; declare it as `{wanted}`" if fix is not None else ""
    message = (
        f"`{output.name}` is written before `{other.name}` is read, but may share its register: it is not an "
        f"early-clobber{remedy}"
    )
    return BlockFinding(output.constraint_span, message, tuple(related), fix)
