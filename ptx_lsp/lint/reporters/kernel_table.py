"""The table of kernels: what each uses, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ptx_lsp.lint.results.display_names import display_names
from ptx_lsp.lint.results.report import FileReport, Kernel
from ptx_lsp.lint.results.reporter import Run
from ptx_lsp.lint.results.style import Style, printable, width

Figure = Callable[[Kernel], object]


def kernels_below(run: Run) -> Iterator[str]:
    """The table after a report, if requested."""
    if run.kernels:
        yield ""
        yield from kernel_table(run.files, run.style)


def kernel_table(files: Iterable[FileReport], style: Style) -> Iterator[str]:
    """The lines of the table, without line ends."""
    rows = [(file, kernel) for file in files for kernel in file.kernels]
    if not rows:
        yield "No kernels."
        return
    columns = [
        (*heads, ["-" if (value := figure(kernel)) is None else str(value) for _, kernel in rows])
        for *heads, figure in _COLUMNS
        if any(figure(kernel) is not None for _, kernel in rows)
    ]
    widths = [max(map(width, (first, second, *cells))) for first, second, cells in columns]
    padded = [
        [f"{text:>{size}}" for text in (first, second, *cells)]
        for (first, second, cells), size in zip(columns, widths, strict=True)
    ]
    lines: list[str] = ["  ".join(cells) for cells in zip(*padded, strict=True)]
    first, second, *figures = lines
    names = display_names(kernel.name for _, kernel in rows)
    yield style.paint(f"{first}  kernel", "bold")
    yield style.paint(second.rstrip(), "bold")
    for (file, kernel), texts in zip(rows, figures, strict=True):
        shown = names.get(kernel.name)
        place = f"{printable(file.path)}:{kernel.line}{f'  {printable(kernel.name)}' if shown else ''}"
        yield f"{texts}  {style.paint(printable(shown or kernel.name), 'cyan')}  {style.paint(place, 'dim')}"
    yield from (style.paint(line, "dim") for line in _legend([kernel for _, kernel in rows]))


def _registers(kernel: Kernel) -> str | None:
    found = kernel.registers
    return None if found.estimate is None else found.estimate_text


def _threads(kernel: Kernel) -> str | None:
    if kernel.threads_per_block is not None:
        origin = "metadata: " if kernel.threads_source == "metadata" else ""
        return f"{origin}{kernel.threads_per_block}"
    best = kernel.occupancy.threads_per_block
    return None if best is None else f"best: {best}"


def _resting(kernel: Kernel, figure: float | None) -> str | None:
    """Exact for the registers it rests on: `~` where those are an estimate."""
    if figure is None:
        return None
    return f"~{figure:g}" if kernel.occupancy.registers_source == "estimate" else f"{figure:g}"


def _limiters(kernel: Kernel) -> str | None:
    limiters = kernel.occupancy.limiters
    return None if limiters is None else ", ".join(limiters)


def _cluster(kernel: Kernel) -> str | None:
    """Only of kernels that have clusters."""
    if kernel.cluster_size == 1:
        return None
    return f"{'metadata: ' if kernel.cluster_source == 'metadata' else ''}{kernel.cluster_size}"


def _options(kernel: Kernel) -> str | None:
    """The options that distinguish compilations of a kernel, such as `num_warps=4 num_stages=3`."""
    if kernel.compilation is None:
        return None
    options = kernel.compilation.options
    shown = (f"{name}={value}" for name, value in options if name != "num_ctas")  # the size of the cluster
    return " ".join(shown) or None


def _dynamic_shared(kernel: Kernel) -> str | int | None:
    """Only of kernels that use it."""
    found = kernel.dynamic_shared
    if found is None or found.source == "none":
        return None
    return "?" if found.size is None else found.size


def _branches(kernel: Kernel) -> str | None:
    found = kernel.branches
    return None if found.uniform is None else f"{found.uniform}/{found.divergent}/{found.unknown}"


_COLUMNS: tuple[tuple[str, str, Figure], ...] = (
    ("target", "", lambda k: k.target),
    ("registers", "estimated", _registers),
    ("registers", "measured", lambda k: k.registers.measured),
    ("registers", "allowed", lambda k: k.registers.limit),
    ("live at peak", "estimated", lambda k: k.registers.peak_live),
    ("shared", "bytes", lambda k: k.shared_bytes),
    ("shared", "measured", lambda k: k.measured and k.measured.shared_bytes),
    ("dynamic", "shared", _dynamic_shared),
    ("local", "bytes", lambda k: k.local_bytes),
    ("stack", "measured", lambda k: k.measured and k.measured.stack_bytes),
    ("spill stores", "measured", lambda k: k.measured and k.measured.spill_store_bytes),
    ("spill loads", "measured", lambda k: k.measured and k.measured.spill_load_bytes),
    ("parameters", "bytes", lambda k: k.parameter_bytes),
    ("threads", "per block", _threads),
    ("blocks", "per cluster", _cluster),
    ("compiled", "with", _options),
    ("warps", "per SM", lambda k: _resting(k, k.occupancy.warps_per_sm)),
    ("occupancy", "percent", lambda k: _resting(k, k.occupancy.percent)),
    ("limited", "by", _limiters),
    ("branches", "unif/div/?", _branches),
)
"""A column that has no figure in any row is left out."""


def _legend(kernels: Sequence[Kernel]) -> Iterator[str]:
    """What the figures are, as far as these kernels have them."""
    if any(kernel.registers.estimate is not None for kernel in kernels):
        yield "estimated without ptxas; about 90 % of unseen kernels lie within the interval in parentheses"
    if any(kernel.registers.measured is not None for kernel in kernels):
        yield "measured by ptxas"
    if any(kernel.occupancy.registers_source == "estimate" for kernel in kernels):
        yield "~: exact for the estimated registers; use --ptxas to measure them"
    if any(
        kernel.threads_per_block is None and kernel.occupancy.threads_per_block is not None
        for kernel in kernels
    ):
        yield "best: no directive sets the block size; use --threads"
    if any(kernel.compilation is not None for kernel in kernels):
        yield "metadata: the compiler wrote it beside the file"
    if any(kernel.dynamic_shared is not None and kernel.dynamic_shared.size is None for kernel in kernels):
        yield "dynamic ?: the launch gives it, and occupancy may be lower; use --dynamic-shared"
    if any(kernel.branches.uniform is not None for kernel in kernels):
        yield "unif/div/?: branches proven uniform within a warp, possibly divergent, or unknown"
    yield "all other values are exact"
