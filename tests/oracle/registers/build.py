"""Judges PTX files and adds them to a data set, as far as an earlier run has not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NotRequired, TypedDict

from tests.oracle.registers.data_set import DataSet
from tests.oracle.registers.kernel_texts import kernels, with_kernels
from tests.oracle.registers.parts import SHARES, capped, part_of
from tests.oracle.registers.truth import Kernel, NoFiguresError, Record, Tools, figures

LISTED = "files.jsonl"
FAILURES = "failures.jsonl"
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+(sm_\w+)", re.MULTILINE)
_AT_ONCE = 64


class Listed(TypedDict):
    """A line of `files.jsonl`: a PTX file and where it comes from."""

    file: str
    repository: str
    program: str
    compiler: str
    opt: str
    arch: NotRequired[str]
    """The target to compile for, if not the file's own."""
    origin: NotRequired[str]
    """What is drawn into a part together: the repository, if not given."""


class Settings(NamedTuple):
    """How files are drawn and judged."""

    tools: Tools
    seed: str
    most: int
    """Kernels of a file; more are drawn."""
    timeout_s: float
    shares: Sequence[float] = SHARES
    """Of all origins, by part."""


class Judged(NamedTuple):
    """A file with the kernels that were drawn, or the cause why there is none."""

    listed: Listed
    record: Record | None
    text: str
    cause: str


class Failure(TypedDict):
    """A line of `failures.jsonl`."""

    file: str
    cause: str


def listed(folder: Path) -> list[Listed]:
    """The PTX files that a folder lists. Raises OSError and ValueError."""
    lines = (folder / LISTED).read_text().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def build(folder: Path, data: DataSet, settings: Settings, workers: int = 1) -> Counter[str]:
    """Adds the files of a folder; says how many kernels are new, and how many files fail for which cause."""
    failed = data.folder / FAILURES
    known = {failure["file"] for failure in _failures(failed)} | data.files
    tasks = [one for one in listed(folder) if one["file"] not in known]
    counts: Counter[str] = Counter()
    with data.alone(), failed.open("a", buffering=1) as failures:
        for judged in _judged(folder, tasks, settings, workers):
            if judged.record is None:
                failure = Failure(file=judged.listed["file"], cause=judged.cause)
                failures.write(json.dumps(failure) + "\n")
                counts[judged.cause] += 1
                continue
            origin = judged.listed.get("origin", judged.listed["repository"])
            part = part_of(settings.seed, origin, settings.shares)
            counts["kernels"] += data.add(part, judged.record, judged.text)
    return counts


def judged(folder: Path, settings: Settings, task: Listed) -> Judged:
    """One file, compiled by ptxas."""
    try:
        text = (folder / task["file"]).read_text(errors="replace")
    except OSError:
        return Judged(task, None, "", "cannot be read")
    names = [span.name for span in kernels(text)]
    if not names:
        return Judged(task, None, "", "has no kernels")
    if len(names) > settings.most:
        text = with_kernels(text, set(capped(names, settings.most, settings.seed)))
    target = _TARGET.search(text)
    arch = task.get("arch") or (target[1] if target else "")
    try:
        found = figures(text, arch, settings.tools, settings.timeout_s)
    except NoFiguresError as error:
        return Judged(task, None, "", str(error))
    return Judged(task, _record(task, arch, found), text, "")


def _record(task: Listed, arch: str, found: dict[str, Kernel]) -> Record:
    return Record(
        file=task["file"],
        arch=arch,
        accepted=True,
        program=task["program"],
        repository=task["repository"],
        compiler=task["compiler"],
        opt=task["opt"],
        kernels=found,
    )


def _judged(
    folder: Path, tasks: Iterable[Listed], settings: Settings, workers: int
) -> Iterator[Judged]:
    """The files in their order: which of equal kernels is kept does not depend on the time."""
    judging = partial(judged, folder, settings)
    if workers == 1:
        yield from map(judging, tasks)
        return
    rest = iter(tasks)
    with ProcessPoolExecutor(workers) as pool:
        while some := list(islice(rest, _AT_ONCE)):
            yield from pool.map(judging, some)


def _failures(path: Path) -> list[Failure]:
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
