"""The end of a recorded run, and whether a replay ends in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, get_args

from ptx_lsp.executor.launching.finding_text import finding_json, of_error
from ptx_lsp.executor.launching.prepared_launch import PreparedLaunch
from ptx_lsp.executor.machine.errors import ExecutionError, Finding, Lane
from ptx_lsp.executor.recording.fields import Fields, Json

Status = Literal["done", "failed", "interrupted", "unfinished"]


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    `status` is "done", "failed" with an `error`, "interrupted", or "unfinished" if its process has ended
    first. `findings` are those with `seed`, `error` the fault that stopped the kernel. `memory` is the digest
    of what it left in memory, "" if that is not known.
    """

    status: Status = "unfinished"
    seed: int = 0
    findings: tuple[Finding, ...] = ()
    error: Finding | None = None
    memory: str = ""

    @property
    def problem(self) -> Finding | None:
        """The first error."""
        found = [one for one in self.findings if one.severity == "error"]
        return next(iter(found), self.error)

    def difference(self, replay: Outcome) -> str:
        """How a replay of the same run ended differently; "" if it did not."""
        return self.problem_difference(replay.problem) or self._memory_difference(replay.memory)

    def problem_difference(self, problem: Finding | ExecutionError | None) -> str:
        """How the first error of a replay differs from the recorded one; "" if it does not."""
        found = of_error(problem) if isinstance(problem, ExecutionError) else problem
        wanted = self.problem
        if wanted is None or (found is not None and _place(found) == _place(wanted)):
            return ""
        there = "ended without it" if found is None else f"found {_named(found)}"
        return f"the recorded run found {_named(wanted)}, this one {there}"

    def memory_difference(self, launch: PreparedLaunch) -> str:
        """How memory after a replay differs from that after the recorded run; "" if it does not."""
        return self._memory_difference(digest(launch)) if self.memory else ""

    def _memory_difference(self, memory: str) -> str:
        if not self.memory or self.memory == memory:
            return ""
        return "memory is not as the recorded run left it"


def outcome_of(
    launch: PreparedLaunch | None, seed: int, findings: Sequence[Finding], error: BaseException | None
) -> Outcome:
    """The outcome of a launch; `launch` is None if memory is not as the run left it."""
    replayed = tuple(one for one in findings if one.seed == seed and one.kind != "schedule-dependent")
    if isinstance(error, ExecutionError):
        is_replayed = error.seed == seed and error.message != "time limit exceeded"
        return Outcome("failed", seed, replayed, of_error(error) if is_replayed else None)
    if error is not None:
        return Outcome("interrupted", seed, replayed)
    return Outcome("done", seed, replayed, memory="" if launch is None else digest(launch))


def digest(launch: PreparedLaunch) -> str:
    """Of all memory that a kernel may write."""
    found = blake2b(digest_size=16)
    for data in launch.written():
        found.update(data.data)
    return found.hexdigest()


def outcome_json(one: Outcome) -> Json:
    return {
        "status": one.status, "seed": one.seed, "findings": [finding_json(each) for each in one.findings],
        "error": None if one.error is None else finding_json(one.error), "memory": one.memory,
    }


def read_outcome(fields: Fields) -> Outcome:
    """Raises RecordingError."""
    error = fields.optional_inner("error")
    return Outcome(
        fields.word("status", get_args(Status)), fields.seed("seed"),
        tuple(_finding(one) for one in fields.each("findings")), None if error is None else _finding(error),
        fields.text("memory"),
    )


def _finding(fields: Fields) -> Finding:
    other = fields.optional_inner("other_lane")
    return Finding(
        fields.text("kind"), fields.text("message"), fields.number("line"), fields.text("source"),
        tuple(_lane(one) for one in fields.each("lanes")), fields.number("count"), fields.text("space"),
        fields.optional_number("address"), fields.text("variable"), fields.number("other_line"),
        None if other is None else _lane(other), fields.seed("seed"), fields.number("written_line"),
    )


def _lane(fields: Fields) -> Lane:
    (a, b, c), (d, e, f) = fields.numbers("block", (3,)), fields.numbers("thread", (3,))
    return Lane((a, b, c), (d, e, f))


def _place(one: Finding) -> tuple[str, int, int]:
    return one.kind, one.line, one.other_line


def _named(one: Finding) -> str:
    return f"{one.kind} at line {one.line}" if one.line else one.kind
