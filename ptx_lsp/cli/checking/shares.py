"""Checks the functions of one large file in several processes: copies of this one, with a share each."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module

from ptx_lsp.cli.settings import Settings
from ptx_lsp.lint.configuration.selection import occurring_in
from ptx_lsp.lint.diagnostic import Finding
from ptx_lsp.lint.engine import LintSession
from ptx_lsp.lint.failures import collected_failures
from ptx_lsp.lint.results.report import Kernel
from ptx_lsp.model.module import Module
from ptx_lsp.model.module_wakes import Occurring
from ptx_lsp.named_tuple import NamedTuple

_WORTH_A_PROCESS = 3000
"""Instructions: with fewer for each process, a copy costs more than it gains."""
_REST = 0.3
"""What else there is to do for a file, as a part of the work on its functions."""
_MOST = 0.8
"""A share that is more of the work would only be waited for."""
_LARGE = 8
"""A function is large if so many of its size are more than a share."""


class Share(NamedTuple):
    """The findings about some functions, each by its number."""

    findings: dict[int, list[tuple[str, Finding]]]
    """With the names of the rules."""
    occurring: Occurring
    kernels: dict[int, Kernel]
    """The metrics of kernels, if they are wanted: who has analysed a function has most of them."""


def linted(module: Module, settings: Settings, processes: int) -> tuple[LintSession, dict[int, Kernel]]:
    """The findings about a module, and what is known of the metrics of its kernels, by number."""
    numbers = shared_out([len(one.body.instructions) for one in module.functions.anywhere()], processes)
    if not numbers:
        return LintSession(module, settings.rules.awake(module)), {}
    shares = _in_processes(module, settings, numbers)
    done = {number for share in shares for number in share.findings}
    occurring = occurring_in([one for number, one in enumerate(module.functions) if number not in done])
    for share in shares:
        occurring.update(share.occurring)
    session = LintSession(module, settings.rules.awake(module, occurring), staged=True)
    for share in shares:
        session.receive(share.findings)
    for _ in session.steps():
        pass
    return session, {number: row for share in shares for number, row in share.kernels.items()}


def _in_processes(
    module: Module, settings: Settings, numbers: Sequence[Sequence[int]]
) -> list[Share]:
    """The shares, of which this process has the first. One that is lost with its process is left out."""
    from ptx_lsp.parallel.fork import Forks

    if settings.has_kernels:
        import_module("ptx_lsp.lint.results.kernels")  # before this process is copied
    try:
        copies = Forks[Share | None]()
    except OSError:  # no more files
        return []
    with copies as forks:
        for each in numbers[1:]:
            with suppress(OSError):  # no more processes
                forks.start(partial(_without_failures, module, settings, each))
        mine = _share(module, settings, numbers[0])
        return [mine, *filter(None, forks.results())]


def _without_failures(module: Module, settings: Settings, numbers: Sequence[int]) -> Share | None:
    """None after a failure, which the original then has itself, and reports."""
    with collected_failures() as failures:
        share = _share(module, settings, numbers)
    return None if failures else share


def _share(module: Module, settings: Settings, numbers: Sequence[int]) -> Share:
    functions = module.functions
    occurring = occurring_in([functions[number] for number in numbers])
    session = LintSession(module, settings.rules.awake(module, occurring), staged=True)
    for _ in session.on_functions(numbers):
        pass
    kernels: dict[int, Kernel] = {}
    if settings.has_kernels:
        from ptx_lsp.lint.results.kernels import has_metrics, kernel

        kernels = {
            number: kernel(
                functions[number], None, settings.block_threads, settings.details, settings.maxrregcount
            )
            for number in numbers
            if has_metrics(functions[number])
        }
    return Share(session.sent(numbers), occurring, kernels)


def shared_out(sizes: Sequence[int], processes: int) -> list[list[int]]:
    """The numbers of the functions for each process, by the instructions; none if one is enough.

    Large functions go to the process that has the fewest, the largest first. The others follow in text
    order, until each has its part: neighbours have the same instructions, whose checks they share. The first
    process, which does the rest of the check too, has fewer.
    """
    total = sum(sizes)
    count = min(processes, total // _WORTH_A_PROCESS)
    if count < 2:
        return []
    rest = int(total * _REST)
    loads = [rest, *([0] * (count - 1))]
    part = (total + rest) // count
    shares: list[list[int]] = [[] for _ in range(count)]
    large = [number for number, size in enumerate(sizes) if size > part // _LARGE]
    for number in sorted(large, key=sizes.__getitem__, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(number)
        loads[least] += sizes[number]
    at = 0
    for number, size in enumerate(sizes):
        if size <= part // _LARGE:
            while loads[at] >= part and at < count - 1:
                at += 1
            shares[at].append(number)
            loads[at] += size
    most = max(sum(map(sizes.__getitem__, share)) for share in shares)
    return [shares[0], *filter(None, shares[1:])] if most < total * _MOST else []
