"""Completion offers nothing that the linter then refuses.

For every row of the table, items are accepted at some places of its example, and the statements are linted.
"""

from __future__ import annotations

import random

import pytest

from ptx_lsp.isa.schema.table import all_entries
from tests.ide.accepting import Accepted, accepted, context_of, new_errors, places

ROWS = sorted(all_entries(), key=lambda entry: (entry.name, entry.example))
_PLACES = 3


@pytest.mark.parametrize("part", range(8))
def test_an_accepted_item_is_no_error(part: int) -> None:
    checked = 0
    for entry in ROWS[part::8]:
        context = context_of(entry)
        if context is None:
            continue
        found = dict[Accepted, None]()
        every = list(places(entry.example))
        for place in random.Random(entry.example).sample(every, min(_PLACES, len(every))):
            found.update(dict.fromkeys(accepted(context, place)))
        wrong = [
            (item.text, item.text[item.start : item.end], one.message)
            for item, one in new_errors(context, found)
        ]
        assert wrong == []
        checked += len(found)
    assert checked > 500
