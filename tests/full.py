"""Runs everything that must pass: `make test`.

    python -m tests.full

1. The parts are targets of the Makefile. Each runs, even if another one has failed, and announces itself.
   The types and then the VS Code extension are checked beside the Python tests: each part alone leaves some
   of two cores idle. What they print comes after what the Python tests print. The project is set up before
   all parts, not again between them: that would build under the tests what has changed meanwhile.
2. With `CI` set, `make editors` comes first. If it fails, the tests of these editors are left out.
3. Without npm, the VS Code extension is left out, except with `CI` set.
4. The end names the result and the duration of each part and of all, and what was left out, with the reasons.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import NamedTuple
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
    if status := _make("setup")[0]:
        return status
    if in_ci:
        _make("editors")
    RECORD.unlink(missing_ok=True)
    start = time.monotonic()
    results = list(_results(in_ci))
    seconds = time.monotonic() - start
    print("\n".join(["", *summary(results, seconds, *_counted())]), flush=True)
    return int(any(result.result == "failed" for result in results))


def _results(in_ci: bool) -> Iterator[Result]:
    yield _run(STYLE)[0]
    has_npm = in_ci or shutil.which("npm") is not None
    beside = [TYPES, VS_CODE] if has_npm else [TYPES]
    are_done = Event()
    with ThreadPoolExecutor(1) as pool:
        tests = pool.submit(_run_tests, are_done)
        # Ctrl-C reaches this thread before it can begin another part: make may end with it as with a failure
        others = [_run(part, captured=True) for part in beside]
        are_done.set()
        yield tests.result()
    for result, output in others:
        print(f"== Output of make {PARTS[result.part]}\n{output}", end="", flush=True)
        yield result
    if not has_npm:
        yield Result(VS_CODE, "left out: npm is missing", 0.0)


def _run_tests(are_others_done: Event) -> Result:
    result, _ = _run(PYTHON_TESTS)
    if not are_others_done.is_set():
        print("== Waiting for what runs beside them", flush=True)
    return result


def _run(part: str, *, captured: bool = False) -> tuple[Result, str]:
    """The result of a part and, if it is `captured`, what it prints."""
    # in one piece: another part may begin at the same time
    print(f"== {[*PARTS].index(part) + 1} of {len(PARTS)}: {part} (make {PARTS[part]})\n", end="", flush=True)
    start = time.monotonic()
    status, output = _make(PARTS[part], captured=captured)
    return Result(part, "failed" if status else "passed", time.monotonic() - start), output


def _make(target: str, *, captured: bool = False) -> tuple[int, str]:
    """The exit status and, if it is `captured`, what it prints. Raises KeyboardInterrupt after Ctrl-C."""
    command = ["make", "--no-print-directory", target, *(["SETUP="] if target in PARTS.values() else [])]
    stream = subprocess.PIPE if captured else None
    done = subprocess.run(
        command, check=False, stdout=stream, stderr=subprocess.STDOUT if captured else None,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    if done.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return done.returncode, done.stdout or ""


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


def summary(
    results: Sequence[Result], seconds: float, counts: str, left_out: Counter[str]
) -> Iterator[str]:
    """Lines with the results, the duration of all, and what was left out."""
    yield "Results"
    for part, result, duration in results:
        details = f", {counts}" if part == PYTHON_TESTS and counts else ""
        yield f"  {part:18} {result:7} {_duration(duration):>12}{details}"
    yield f"  {'in all':26} {_duration(seconds):>12}"
    if left_out:
        yield "Left out"
        for reason, count in sorted(left_out.items()):
            yield f"  {count} {'test' if count == 1 else 'tests'}: {reason.removeprefix('Skipped: ')}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    sys.exit(main())
