"""Expressions that are printed at each stop."""

from __future__ import annotations

from ptx_lsp.debug import values
from ptx_lsp.debug.console.console import Console
from ptx_lsp.debug.console.tables import Row, warp_table
from ptx_lsp.debug.request_error import RequestError


def show_display(console: Console, number: int) -> None:
    """Prints a displayed expression, if it has a value here."""
    text, format = console.displays[number]
    try:
        if format == "w":
            console.say(f"{number}: /w {text}", *warp_rows(console, [text]))
        else:
            value = console.value(text).formatted(format)
            console.say(f"{number}: {f'/{format} ' if format else ''}{text} = {value}")
    except RequestError:
        return


def warp_rows(console: Console, texts: list[str]) -> list[str]:
    """A table of expressions in all lanes of the warp in focus. Raises RequestError."""
    group = console.group
    count = values.lanes_of(group, whole=True).size
    rows: list[Row] = []
    for text in texts:
        try:
            found = console.values(text, whole=True)
            rows.append(Row(text, [one.text if one.elements else "-" for one in found]))
        except RequestError as error:
            if len(texts) == 1:
                raise
            rows.append(Row(text, [], str(error)))
    return warp_table(rows, [lane in group.lanes for lane in range(count)], console.width())
