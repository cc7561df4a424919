"""The columns of the table of a run: a row for each file, each kernel and each finding.

Names and types only ever grow, like the report in JSON. A change that breaks queries raises SCHEMA_VERSION.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ptx_lsp.named_tuple import NamedTuple

SCHEMA_VERSION: Final = 1

RowKind: TypeAlias = Literal["file", "kernel", "finding"]
ColumnType: TypeAlias = Literal[
    "string", "category", "int64", "double", "bool", "list<string>", "map<string, int64>"
]
"""As Arrow calls them; a `category` is a string of which there are few."""


class Column(NamedTuple):
    """A column; it is null in other rows than those of `kinds`."""

    name: str
    type: ColumnType
    kinds: tuple[RowKind, ...]
    summary: str


_ALL: Final[tuple[RowKind, ...]] = ("file", "kernel", "finding")
_CODE: Final[tuple[RowKind, ...]] = ("kernel", "finding")
_FILE: Final[tuple[RowKind, ...]] = ("file",)
_KERNEL: Final[tuple[RowKind, ...]] = ("kernel",)
_FINDING: Final[tuple[RowKind, ...]] = ("finding",)

COLUMNS: Final = (
    Column("kind", "category", _ALL, "`file`, `kernel` or `finding`"),
    Column("path", "string", _ALL, "the file, as in other reports; `CONTAINER!MEMBER` in a container"),
    Column("container", "string", _ALL, "the container, if the PTX is in one"),
    Column("member", "string", _ALL, "the name of the PTX in its container"),
    Column("language", "category", _ALL, "the language of a file with inline PTX; null for PTX"),
    Column("ptx_version", "category", _ALL, "`.version`"),
    Column("target", "category", _ALL, "`.target`; of a kernel, the target of its figures"),
    Column("sm", "int64", _ALL, "the number of the target: 90 for `sm_90a`"),
    Column("function", "string", _CODE, "the kernel; the kernel or function that has the finding"),
    Column("demangled", "string", _CODE, "its demangled name, if the name is mangled"),
    Column("line", "int64", _CODE, "the line, from 1"),
    Column(
        "fingerprint", "string", _CODE,
        "of a finding, stable across moved lines; of a kernel, equal in kernels with the same code",
    ),
    Column("error", "string", _FILE, "why there is no result"),
    Column("kernels", "int64", _FILE, "the number of kernel rows of the file"),
    Column("findings", "int64", _FILE, "the number of finding rows of the file"),
    Column("errors", "int64", _FILE, "the number of findings that are errors"),
    Column("warnings", "int64", _FILE, "the number of findings that are warnings"),
    Column("blocks", "int64", _FILE, "the number of blocks of inline PTX, if it is not a PTX file"),
    Column("requires_target", "category", _FILE, "with `--requires`, the lowest target"),
    Column("requires_ptx_version", "category", _FILE, "with `--requires`, the lowest version for its target"),
    Column(
        "notes", "list<string>", ("file", "finding"),
        "of a finding, additional information; of a file, rules that failed, and why ptxas did not run",
    ),
    Column("registers", "int64", _KERNEL, "32-bit registers per thread: measured, else estimated"),
    Column("registers_source", "category", _KERNEL, "`measured` or `estimate`"),
    Column("registers_estimate", "int64", _KERNEL, "estimated"),
    Column("registers_low", "int64", _KERNEL, "estimated: the lower end of the interval"),
    Column("registers_high", "int64", _KERNEL, "estimated: the upper end of the interval"),
    Column("registers_peak_live", "int64", _KERNEL, "estimated: the most registers live at once"),
    Column("registers_measured", "int64", _KERNEL, "measured"),
    Column("registers_limit", "int64", _KERNEL, "exact: the most that directives or `--maxrregcount` allow"),
    Column("shared_bytes", "int64", _KERNEL, "exact: static shared memory per block"),
    Column("measured_shared_bytes", "int64", _KERNEL, "measured: static shared memory per block"),
    Column("dynamic_shared_bytes", "int64", _KERNEL, "dynamic shared memory per block, if known"),
    Column(
        "dynamic_shared_source", "category", _KERNEL,
        "`none`, `launch comment`, `setting`, `metadata` or `unknown`",
    ),
    Column("local_bytes", "int64", _KERNEL, "exact: declared local memory per thread, with functions called"),
    Column("stack_bytes", "int64", _KERNEL, "measured: stack frame per thread"),
    Column("spill_store_bytes", "int64", _KERNEL, "measured: spill stores per thread"),
    Column("spill_load_bytes", "int64", _KERNEL, "measured: spill loads per thread"),
    Column("parameter_bytes", "int64", _KERNEL, "exact: parameters"),
    Column("threads_per_block", "int64", _KERNEL, "the block size, if a directive or an option sets it"),
    Column(
        "threads_source", "category", _KERNEL,
        "what sets it: `reqntid`, `maxntid`, `option` or `metadata`; `best`: nothing does",
    ),
    Column("cluster_size", "int64", _KERNEL, "exact: blocks per cluster; 1 without clusters"),
    Column("cluster_source", "category", _KERNEL, "what sets it: `reqnctapercluster` or `metadata`"),
    Column("compiler", "category", _KERNEL, "the compiler, from its metadata beside the file"),
    Column(
        "compiler_options", "map<string, int64>", _KERNEL,
        "its options, as `num_warps`, which distinguish kernels of the same name",
    ),
    Column("occupancy_percent", "double", _KERNEL, "exact for `registers` and `occupancy_threads`"),
    Column("occupancy_threads", "int64", _KERNEL, "the block size of the occupancy: set, or else the best"),
    Column("blocks_per_sm", "int64", _KERNEL, "as `occupancy_percent`"),
    Column("warps_per_sm", "int64", _KERNEL, "as `occupancy_percent`"),
    Column("limiters", "list<string>", _KERNEL, "the resources that limit occupancy"),
    Column("next_blocks_per_sm", "int64", _KERNEL, "the next higher `blocks_per_sm`"),
    Column("next_fewer_registers", "int64", _KERNEL, "by how many registers the kernel must shrink for that"),
    Column("next_fewer_shared_bytes", "int64", _KERNEL, "by how many bytes of shared memory, too"),
    Column("headroom_registers", "int64", _KERNEL, "by how many registers it may grow and lose no block"),
    Column("headroom_shared_bytes", "int64", _KERNEL, "by how many bytes of shared memory"),
    Column("branches_uniform", "int64", _KERNEL, "branches proved uniform in a warp"),
    Column("branches_divergent", "int64", _KERNEL, "divergent branches"),
    Column("branches_unknown", "int64", _KERNEL, "all others"),
    Column("instruction_count", "int64", _KERNEL, "exact: instructions in the text of the kernel"),
    Column("instructions", "map<string, int64>", _KERNEL, "exact: their number by spelling, as `fma.rn.f32`"),
    Column("rule", "category", _FINDING, "the rule"),
    Column("code", "category", _FINDING, "its code"),
    Column("severity", "category", _FINDING, "`error`, `warning`, `info` or `hint`"),
    Column("message", "string", _FINDING, "the message"),
    Column("start_column", "int64", _FINDING, "the column, from 1, in code points"),
    Column("end_line", "int64", _FINDING, "the line of the end"),
    Column("end_column", "int64", _FINDING, "the column after the end"),
    Column("source", "category", _FINDING, "`ptx-lint` or `ptxas`"),
    Column("targets", "list<string>", _FINDING, "with `--targets`, those that have it; empty if all do"),
    Column("fixable", "bool", _FINDING, "whether there is a fix"),
    Column("fix_is_safe", "bool", _FINDING, "whether `--fix` applies it; null without a fix"),
    Column("origin_path", "string", _FINDING, "the source file, according to `.loc`"),
    Column("origin_line", "int64", _FINDING, "the line there"),
    Column("origin_column", "int64", _FINDING, "the column there"),
)
"""In the order of the table."""
