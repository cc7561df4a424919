"""The table of kernels: what each uses, and who says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ptx_lsp.lint.report import FileReport, Kernel
from ptx_lsp.lint.reporters.style import Style, printable, width

Figure = Callable[[Kernel], object]

_COLUMNS: tuple[tuple[str, str, Figure], ...] = (
    ("target", "", lambda k: k.target),
    ("registers", "estimated", lambda k: k.registers.estimate),
    ("registers", "measured", lambda k: k.registers.measured),
    ("registers", "allowed", lambda k: k.registers.limit),
    ("registers", "live at peak", lambda k: k.registers.peak_live),
    ("shared", "bytes", lambda k: k.shared_bytes),
    ("shared", "measured", lambda k: k.measured and k.measured.shared_bytes),
    ("local", "bytes", lambda k: k.local_bytes),
    ("stack", "measured", lambda k: k.measured and k.measured.stack_bytes),
    ("spill stores", "measured", lambda k: k.measured and k.measured.spill_store_bytes),
    ("spill loads", "measured", lambda k: k.measured and k.measured.spill_load_bytes),
    ("parameters", "bytes", lambda k: k.parameter_bytes),
    ("threads", "per block", lambda k: k.threads_per_block),
    ("warps", "per SM", lambda k: k.occupancy.warps_per_sm),
    ("occupancy", "percent", lambda k: k.occupancy.percent),
)
"""A column that has no figure in any row is left out."""


def kernel_table(files: Sequence[FileReport], style: Style) -> Iterator[str]:
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
    first, second, *figures = ("  ".join(cells) for cells in zip(*padded, strict=True))
    yield style.paint(f"{first}  kernel", "bold")
    yield style.paint(second.rstrip(), "bold")
    for (file, kernel), texts in zip(rows, figures, strict=True):
        place = style.paint(f"{printable(file.path)}:{kernel.line}", "dim")
        yield f"{texts}  {style.paint(printable(kernel.name), 'cyan')}  {place}"
