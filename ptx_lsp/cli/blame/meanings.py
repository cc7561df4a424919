"""The meanings of common messages of ptxas, and what would be right.

Determined by experiments with ptxas 13.5. `{0}` is the first name that the message has in quotes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from ptx_lsp.lazy_pattern import lazy_pattern

_NAMES = lazy_pattern(r"'([^']*)'")

MEANINGS: Final = (
    (
        r"Parsing error near '': syntax error",
        "The text ends inside a function or statement: a `}` or a `;` is missing.",
    ),
    (
        r"Parsing error near",
        "`{0}` cannot stand here. If it begins a statement, the `;` of the statement before is missing. ptxas"
        " checks nothing after a syntax error.",
    ),
    (r"Not a name of any known instruction", "There is no opcode `{0}`; check its spelling and its case."),
    (
        r"Unknown modifier",
        "No instruction has the modifier `{0}` here. If it exists, it may belong to another opcode, or need a"
        " newer ptxas.",
    ),
    (
        r"Illegal modifier '(.*)' for instruction",
        "`{1}` does not have `{0}`, at least not with its other modifiers.",
    ),
    (
        r"Unknown symbol",
        "`{0}` is not declared here. A register in braces is gone after its `}`; in a `.cu` file, operands "
        "are `%0`, and registers are written with `%%`.",
    ),
    (r"Unknown (?:field|vector selector)", "Vectors have the elements `.x`, `.y`, `.z` and `.w`."),
    (
        r"Duplicate definition of",
        "`{0}` is declared twice. In inline assembly that is inlined or unrolled, put the declaration in "
        "braces, or write `%=` in its name.",
    ),
    (
        r"Label expression expected|Label expected",
        "A branch takes the name of a label in the same function.",
    ),
    (r"Unexpected non-ASCII character", "Outside comments and strings PTX is ASCII."),
    (r"Unexpected EOF", "The text ends within a comment or a string."),
    (
        r"Arguments mismatch for instruction",
        "An operand of `{0}` has the wrong size, type or kind, or there are too many or too few. Inline "
        "assembly: `r` is 32 bits, `l` 64, `h` 16, `f` and `d` are floats.",
    ),
    (r"Illegal operand type to instruction", "`{0}` takes no operand of this kind here."),
    (
        r"Unexpected instruction types specified",
        "The types of `{0}` are wrong: one is missing, one too many, or not one that it has.",
    ),
    (
        r"Argument vector size mismatch",
        "A vector operand has another number of elements than the `.v2`, `.v4` or shape says.",
    ),
    (r"Result register required", "The first operand of `{0}` must be a register."),
    (
        r"Predicate expression expected|must be in register state space",
        "A guard takes a register of type `.pred`.",
    ),
    (
        r"State space mismatch|State space incorrect",
        "The address is in another state space than the instruction says. `cvta.to` converts a generic "
        "address; without a state space, the instruction takes a generic address.",
    ),
    (r"Rounding modifier required|Rounding modifier or", "Write how `{0}` rounds, for example `.rn`."),
    (r"Illegal rounding modifier", "`{0}` does not round in this way for these types."),
    (
        r"Call has wrong number of parameters",
        "The call passes more or fewer arguments than the function declares.",
    ),
    (
        r"Call to '.*' requires call prototype",
        "An indirect call names a `.callprototype` as its last operand.",
    ),
    (r"Integer constant expression expected|Illegal expression", "Only a constant can stand here."),
    (
        r"(?:Illegal|Immediate) address|Immediate addresses allowed",
        "The address must be a register or a variable; constants are addresses in `.local` only.",
    ),
    (r"Reduction operation is required", "`{0}` needs an operation, such as `.add` or `.max`."),
    (r"Comparison (?:modifier|qualifier) (?:is )?required", "`{0}` needs a comparison, such as `.lt`."),
    (
        r"memory order|\.L2::cache_hint modifier required",
        "The operands and the modifiers do not go together.",
    ),
    (
        r"(?:Feature|Modifier|Instruction) '.*' (?:on '.*' )?requires PTX ISA \.version",
        "The `.version` at the beginning of the file is too old. It is that of the compiler that wrote it: "
        "use a newer one, or raise the number if the PTX is written by hand.",
    ),
    (
        r"(?:Feature|Modifier|Instruction) '.*' (?:on '.*' )?requires \.target (sm_\d+[af])",
        "Only this target has it: compile for it exactly, with the letter (`-arch=sm_90a`, not `sm_90`).",
    ),
    (
        r"(?:Feature|Modifier|Instruction) '.*' (?:on '.*' )?requires \.target",
        "The code is compiled for an older GPU. Compile for a newer one only, or put this into `#if "
        "__CUDA_ARCH__ >= ...`.",
    ),
    (
        r"(?:cannot be compiled (?:to future|for)|not supported on \.target|does not support \.target)",
        "The version and the target of the file do not go together, or the instruction was removed.",
    ),
    (
        r"Unsupported \.version",
        "This ptxas, or the driver, is older than the compiler that wrote the PTX. Update the driver, or use "
        "a toolkit that is not newer than it.",
    ),
    (
        r"is not defined for option 'gpu-name'",
        "This ptxas does not know the GPU: it is too old, or too new for an old GPU. Triton takes another one"
        " from `TRITON_PTXAS_PATH`.",
    ),
    (
        r"SM version specified by \.target is higher than default",
        "Pass `-arch` with the target of the file to ptxas.",
    ),
    (
        r"Missing \.(?:target|version) directive|Target architecture not defined",
        "A file begins with `.version` and `.target`. This may not be PTX at all.",
    ),
    (r"32-Bit", "Recent GPUs have 64-bit addresses only: `.address_size 64`."),
    (
        r"uses too much shared data",
        "Static shared memory is limited to 48 KiB, except on targets such as sm_90a. Use "
        "`extern __shared__` memory and `cudaFuncAttributeMaxDynamicSharedMemorySize` for more.",
    ),
    (
        r"uses too much parameter space",
        "Kernels take 4 KiB of parameters, and 32764 bytes from sm_70 on with PTX ISA 8.1.",
    ),
    (
        r"uses too much (?:local|global|constant|\S+) data|File uses too much",
        "The variables exceed the limit of the GPU.",
    ),
    (
        r"Register allocation failed",
        "The limit (`-maxrregcount`, launch bounds or `.maxnreg`) is too low for this code.",
    ),
    (
        r"Unresolved extern",
        "`{0}` is only declared. Compile with `-rdc=true` (`-dc`) and link, or include its definition.",
    ),
    (
        r"Undefined reference",
        "No linked object defines `{0}`. Check that all device objects were compiled with `-rdc=true`, and "
        "are linked.",
    ),
    (r"Multiple definition of", "Two objects define `{0}`; make it `static` or `inline`."),
    (
        r"\(C7508\)|'setmaxnreg' ignored",
        "The register count at entry must be known: launch bounds with a block size, or `.reqntid` with "
        "`.minnctapersm 1`, and no calls to other files, no `-G`.",
    ),
    (
        r"\(C75\d\d\).*insufficient register resources",
        "The accumulators do not fit in the registers: use smaller tiles, more warpgroups or `setmaxnreg`.",
    ),
    (
        r"\(C75\d\d\).*(?:defining|reading) accumulator registers",
        "An accumulator is touched between a `wgmma.mma_async` and its `wgmma.wait_group`. Wait first; in "
        "C++, keep accumulators out of conversions, copies and conditional code.",
    ),
    (
        r"\(C75\d\d\).*defining input registers",
        "Registers of A are written while a `wgmma.mma_async` may still read them. Wait first, or use other "
        "registers.",
    ),
    (
        r"\(C7517\)",
        "ptxas put a wait before an instruction that reads an accumulator of a `wgmma.mma_async` in flight."
        " Write the `wgmma.wait_group` yourself, where it costs least.",
    ),
    (
        r"\(C75\d\d\).*(?:function boundary|Extern calls)",
        "A function call stands within the pipeline: inline the function.",
    ),
    (
        r"\(C75\d\d\).*(?:ill formed|divergent path)",
        "`wgmma.fence`, `commit_group` and `wait_group` must enclose the `wgmma.mma_async` on every path.",
    ),
    (
        r"Stack size for entry function .* cannot be statically determined",
        "It is recursive or makes indirect calls. Set the stack with `cudaDeviceSetLimit(cudaLimitStackSize, "
        "...)`.",
    ),
    (r"Registers are spilled|bytes spill stores", "The kernel needs more registers than it may use."),
    (
        r"Optimized debugging not supported",
        "PTX with `.target debug` needs `-g -O0`: compile without `-G`.",
    ),
    (
        r"died due to signal|died with status|Internal (?:compiler )?error|core dumped",
        "ptxas crashed, which is its own mistake, or ran out of memory. `ptx-reduce` finds the smallest PTX "
        "that does it.",
    ),
    (
        r"[Mm]emory allocation (?:error|failure)",
        "ptxas ran out of memory: compile fewer files at a time (`-j`).",
    ),
)
"""Patterns of messages, each with an explanation; the first that matches counts."""


@cache
def meaning(text: str) -> str:
    """The explanation of a message; empty for an unknown one."""
    for pattern, explanation in _compiled():
        if pattern.search(text):
            names = _NAMES.findall(text)
            for number, name in enumerate(names):
                explanation = explanation.replace(f"{{{number}}}", name)
            return explanation if not _PLACE.search(explanation) else ""
    return ""


_PLACE = lazy_pattern(r"\{\d\}")


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), explanation) for pattern, explanation in MEANINGS)


def advice(path: str) -> str:
    """How to get the PTX that a path in a message names."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return next((how for pattern, how in _SOURCES if pattern.search(name)), _ANY)


_SOURCES: Final = (
    (
        lazy_pattern(r"^tmpxft_"),
        "nvcc deleted this file. Compile with `-keep -lineinfo` and pass the `.ptx` file with `--ptx`.",
    ),
    (
        lazy_pattern(r"^application ptx input$"),
        "the driver had this text in memory. Save it (`cuobjdump -ptx`, `NUMBA_DUMP_ASSEMBLY=1`, CuPy's "
        "`CUPY_CACHE_SAVE_CUDA_SOURCE=1`) and pass it with `--ptx`.",
    ),
    (
        lazy_pattern(r"^jl_"),
        "CUDA.jl keeps it if it asks to attach it; else write it with `@device_code_ptx io=open(\"k.ptx\", "
        "\"w\")`, and pass it with `--ptx`.",
    ),
    (
        lazy_pattern(r"^tempfile-"),
        "XLA deleted this file. Set `XLA_FLAGS=--xla_dump_to=DIR` and pass `--ptx DIR`.",
    ),
    (
        lazy_pattern(r"^tmp\w{8}\.ptx$"),
        "Triton deleted this file. Its cache has the PTX: pass `--ptx ~/.triton/cache`, or set "
        "`TRITON_KERNEL_DUMP=1` and pass `--ptx ~/.triton/dump`.",
    ),
    (
        lazy_pattern(r"-cuda-nvptx|-sm_\d+"),
        "Clang deleted this file. Compile with `-save-temps` and pass the `.s` or `.ptx` file with `--ptx`.",
    ),
)
_ANY: Final = (
    "keep it (`nvcc -keep`, `TRITON_KERNEL_DUMP=1`, `XLA_FLAGS=--xla_dump_to=DIR`) and pass it with `--ptx`."
)
