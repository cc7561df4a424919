"""Runs everything that must pass: `make test`.

    python -m tests.full

1. The parts are targets of the Makefile. Each runs, even if an earlier one has failed, and announces itself.
   The types are checked beside the tests in VS Code, which leave a part of two cores idle.
2. With `CI` set, `make editors` comes first. If it fails, the tests of these editors are left out.
3. Without npm, the VS Code extension is left out, except with `CI` set.
4. The end names the result and the duration of each part, and what was left out, with the reasons.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple
from xml.etree import ElementTree

STYLE = "code style"
PYTHON_TESTS = "Python tests"
TYPES = "types"
VS_CODE = "VS Code extension"
PARTS = {STYLE: "lint", PYTHON_TESTS: "unit", TYPES: "types", VS_CODE: "test-vscode"}
"""The target in the Makefile of each part."""
RECORD = Path("build", "tests.xml")
"""Where `make unit` writes its results, in the format of JUnit."""


class Result(NamedTuple):
    part: str
    result: str
    seconds: float
    """How long it took."""


def main() -> int:
    in_ci = bool(os.environ.get("CI"))
    if status := _make("setup"):
        return status
    if in_ci:
        _make("editors")
    RECORD.unlink(missing_ok=True)
    results = list(_results(in_ci))
    print("\n".join(["", *summary(results, *_counted())]), flush=True)
    return int(any(result.result == "failed" for result in results))


def _results(in_ci: bool) -> Iterator[Result]:
    yield _run(STYLE)
    yield _run(PYTHON_TESTS)
    if not in_ci and shutil.which("npm") is None:
        yield _run(TYPES)
        yield Result(VS_CODE, "left out: npm is missing", 0.0)
        return
    with ThreadPoolExecutor(1) as beside, TemporaryFile("w+") as output:
        types = beside.submit(_run, TYPES, output)
        vs_code = _run(VS_CODE)
        yield types.result()
        output.seek(0)
        print(f"== Output of make {PARTS[TYPES]}\n{output.read()}", end="", flush=True)
        yield vs_code


def _run(part: str, output: IO[str] | None = None) -> Result:
    print(f"== {[*PARTS].index(part) + 1} of {len(PARTS)}: {part} (make {PARTS[part]})", flush=True)
    start = time.monotonic()
    status = _make(PARTS[part], output)
    return Result(part, "failed" if status else "passed", time.monotonic() - start)


def _make(target: str, output: IO[str] | None = None) -> int:
    """The exit status; what it prints goes into `output`."""
    command = ["make", "--no-print-directory", target]
    return subprocess.run(command, check=False, stdout=output, stderr=output).returncode


def _counted() -> tuple[str, Counter[str]]:
    """How many Python tests had which result, and how many were left out for which reason."""
    if not RECORD.exists():
        return "", Counter()
    suite = ElementTree.parse(RECORD).getroot().find("testsuite")
    assert suite is not None
    counts = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failed = counts["failures"] + counts["errors"]
    passed = counts["tests"] - failed - counts["skipped"]
    reasons = Counter(skipped.get("message", "") for skipped in suite.iter("skipped"))
    return f"{passed} passed, {failed} failed, {counts['skipped']} left out", reasons


def summary(results: Sequence[Result], counts: str, left_out: Counter[str]) -> Iterator[str]:
    """Lines with the results, and with what was left out."""
    yield "Results"
    for part, result, seconds in results:
        details = f", {counts}" if part == PYTHON_TESTS and counts else ""
        yield f"  {part:18} {result:7} {_duration(seconds):>12}{details}"
    if left_out:
        yield "Left out"
        for reason, count in sorted(left_out.items()):
            yield f"  {count} {'test' if count == 1 else 'tests'}: {reason.removeprefix('Skipped: ')}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    sys.exit(main())
