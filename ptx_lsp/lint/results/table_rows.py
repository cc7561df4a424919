"""The rows of the table of a run (`table.py`): those of one file together, itself first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ptx_lsp.analyses.occupancy.curves import headroom, steps
from ptx_lsp.isa.target import parse_target
from ptx_lsp.lint.results.kernels import resident
from ptx_lsp.lint.results.report import FileReport, Kernel, Measured, RegistersSource, Reported

Part: TypeAlias = "str | tuple[str, int]"
Cell: TypeAlias = "str | int | float | bool | tuple[Part, ...] | None"
Row: TypeAlias = dict[str, Cell]
"""Cells by column. Absent ones are null."""


def rows(file: FileReport) -> Iterator[Row]:
    """The row of a file, those of its kernels, and those of its findings. Without `demangled`."""
    common = _common(file)
    yield {**common, "kind": "file", **_file(file)}
    for kernel in file.kernels:
        yield {**common, "kind": "kernel", **_kernel(kernel)}
    for found in file.diagnostics:
        yield {**common, "kind": "finding", **_finding(found)}


def _common(file: FileReport) -> Row:
    return {
        "path": file.path,
        "container": file.container,
        "member": file.member,
        "language": file.language,
        "ptx_version": file.ptx_version,
        "target": file.target,
        "sm": _number(file.target),
    }


def _number(target: str | None) -> int | None:
    found = parse_target(target) if target is not None else None
    return found.number if found is not None else None


def _file(file: FileReport) -> Row:
    severities = [found.severity for found in file.diagnostics]
    needed = file.needed
    return {
        "error": file.error,
        "kernels": len(file.kernels),
        "findings": len(severities),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "blocks": file.blocks if file.language is not None else None,
        "requires_target": needed.target if needed is not None else None,
        "requires_ptx_version": needed.ptx_version if needed is not None else None,
        "notes": (*file.failures, *file.complaints),
    }


def _finding(found: Reported) -> Row:
    fix, origin = found.fix, found.origin
    return {
        "function": found.function or None,
        "line": found.mark.start.line,
        "fingerprint": found.fingerprint or None,
        "notes": found.notes,
        "rule": found.rule,
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "start_column": found.mark.start.column,
        "end_line": found.mark.end.line,
        "end_column": found.mark.end.column,
        "source": found.source,
        "targets": found.targets,
        "fixable": fix is not None,
        "fix_is_safe": fix.safe if fix is not None else None,
        "origin_path": origin.path if origin is not None else None,
        "origin_line": origin.line if origin is not None else None,
        "origin_column": origin.column if origin is not None else None,
    }


def _kernel(kernel: Kernel) -> Row:
    registers, dynamic, compilation = kernel.registers, kernel.dynamic_shared, kernel.compilation
    measured = kernel.measured or Measured()
    count, source = _registers(kernel)
    return {
        "function": kernel.name,
        "target": kernel.target,
        "sm": _number(kernel.target),
        "line": kernel.line,
        "fingerprint": kernel.fingerprint or None,
        "registers": count,
        "registers_source": source,
        "registers_estimate": registers.estimate,
        "registers_low": registers.low,
        "registers_high": registers.high,
        "registers_peak_live": registers.peak_live,
        "registers_measured": registers.measured,
        "registers_limit": registers.limit,
        "shared_bytes": kernel.shared_bytes,
        "measured_shared_bytes": measured.shared_bytes,
        "dynamic_shared_bytes": dynamic.size if dynamic is not None else None,
        "dynamic_shared_source": dynamic.source if dynamic is not None else None,
        "local_bytes": kernel.local_bytes,
        "stack_bytes": measured.stack_bytes,
        "spill_store_bytes": measured.spill_store_bytes,
        "spill_load_bytes": measured.spill_load_bytes,
        "parameter_bytes": kernel.parameter_bytes,
        "threads_per_block": kernel.threads_per_block,
        "threads_source": kernel.threads_source,
        "cluster_size": kernel.cluster_size,
        "cluster_source": kernel.cluster_source,
        "compiler": compilation.compiler if compilation is not None else None,
        "compiler_options": compilation.options if compilation is not None else None,
        **_occupancy(kernel),
        "branches_uniform": kernel.branches.uniform,
        "branches_divergent": kernel.branches.divergent,
        "branches_unknown": kernel.branches.unknown,
        "instruction_count": sum(times for _, times in kernel.instructions),
        "instructions": kernel.instructions,
    }


def _registers(kernel: Kernel) -> tuple[int | None, RegistersSource | None]:
    found = kernel.registers
    if found.measured is not None:
        return found.measured, "measured"
    return found.estimate, "estimate" if found.estimate is not None else None


def _occupancy(kernel: Kernel) -> Row:
    known = kernel.occupancy
    result = resident(kernel)
    step = next(iter(steps(result)), None) if result is not None else None
    room = headroom(result) if result is not None else None
    return {
        "occupancy_percent": known.percent,
        "occupancy_threads": known.threads_per_block,
        "blocks_per_sm": known.blocks_per_sm,
        "warps_per_sm": known.warps_per_sm,
        "limiters": known.limiters,
        "next_blocks_per_sm": step.result.blocks_per_sm if step is not None else None,
        "next_fewer_registers": step.fewer_registers if step is not None else None,
        "next_fewer_shared_bytes": step.fewer_shared_bytes if step is not None else None,
        "headroom_registers": room.registers if room is not None else None,
        "headroom_shared_bytes": room.shared_bytes if room is not None else None,
    }
