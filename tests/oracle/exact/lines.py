"""Makes the lines `# exact` of tests/conformance: every spelling of a family, with operands at the edges.

    python -m tests.oracle.exact.lines      writes tests/conformance/exact_*.txt anew

What a line expects is computed with whole numbers and fractions (floats.py), never by the executor.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from tests.executor.conformance.lines import FOLDER
from tests.oracle.exact import conversions as exact_conversions
from tests.oracle.exact import integers as exact_integers
from tests.oracle.exact import reals as exact_reals
from tests.oracle.exact import video as exact_video
from tests.oracle.exact.family import Family, operand


def main() -> None:
    for name, families, rows in (
        ("float", exact_reals.families(), 4), ("comparison", exact_reals.comparisons(), 1),
        ("conversion", exact_conversions.families(), 2), ("integer", exact_integers.families(), 4),
        ("video", exact_video.families(), 1),
    ):
        path = FOLDER / f"exact_{name}.txt"
        title = f"# Made by `python -m tests.oracle.exact.lines`, which knows {_TITLES[name]}."
        text = [title, *lines(families, rows)]
        path.write_text("\n".join(text) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(text) - 1} lines")


_TITLES = {
    "float": "arithmetic in fractions, rounded once", "comparison": "comparisons",
    "conversion": "conversions in fractions, rounded once", "integer": "whole numbers",
    "video": "whole numbers",
}


def lines(families: Iterable[Family], rows: int) -> Iterator[str]:
    """Some lines for each family, always the same ones. A family is done with before the next one is made, so
    it may look at the variables of the loop that makes it.
    """
    for family in families:
        chosen = random.Random(family.spelling)
        seen: set[tuple[int, ...]] = set()
        for _ in range(20 * rows):
            operands = tuple(operand(kind, chosen) for kind in family.kinds)
            found = family.oracle(*operands)
            if found is None or operands in seen:
                continue
            seen.add(operands)
            results = found if isinstance(found, tuple) else (found,)
            texts = [hex(one & (1 << bits) - 1) for one, bits in zip(results, family.results, strict=True)]
            yield f"{family.spelling}  {', '.join(map(hex, operands))} -> {', '.join(texts)}  # exact"
            if len(seen) == rows:
                break


if __name__ == "__main__":
    main()
