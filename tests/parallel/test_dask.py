"""A Dask cluster on this machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from ptx_lsp.parallel.executors import executor
from ptx_lsp.parallel.jobs import JobsError
from ptx_lsp.parallel.ordered import ordered
from tests.cli.conftest import BAD, GOOD, Lint, lint
from tests.parallel.test_ordered import dies_once, lost, raises, square

__all__ = ["lint"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A scheduler with two workers. A task is given up with the first worker that it kills."""
    dask, distributed = import_module("dask"), import_module("distributed")
    assert isinstance(distributed, ModuleType)
    settings = {"distributed.scheduler.allowed-failures": 0, "distributed.worker.daemon": True}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
    ):
        scheduler = cluster.scheduler_address
        assert isinstance(scheduler, str)
        yield scheduler.replace("tcp://", "dask://")


def test_the_same_report(lint: Lint, tmp_path: Path, address: str) -> None:
    for number in range(40):
        text = (GOOD, BAD, "\0" + GOOD)[number % 3].replace("good", f"good_{number}")
        (tmp_path / f"k{number}.ptx").write_text(text)
    (tmp_path / "k.cu").write_text('__global__ void f() { asm("add.s33 %0, 1, 2;" : "=r"(x)); }\n')
    for words in (["--format", "json", "--kernels"], ["--diff"], ["--requires"]):
        here = lint(*words, "--no-cache", "--jobs", "1", tmp_path)
        assert lint(*words, "--no-cache", "--jobs", address, tmp_path) == here
    here = lint("compare", "--jobs", "1", tmp_path / "k0.ptx", tmp_path / "k1.ptx")
    assert lint("compare", "--jobs", address, tmp_path / "k0.ptx", tmp_path / "k1.ptx") == here


def test_workers_that_die_once_change_nothing(tmp_path: Path, address: str) -> None:
    with executor(address) as pool:
        work = partial(dies_once, tmp_path, frozenset({0, 33}))
        assert list(ordered(work, range(60), pool, lost=lost, part_cost=4)) == [
            square(number) for number in range(60)
        ]
    assert len(list(tmp_path.iterdir())) == 2, "each has killed a worker"


def test_results_do_not_stay_on_workers(address: str) -> None:
    """Else, they would fill the memory of a worker, and be made again after its death."""
    distributed = import_module("distributed")
    with (
        executor(address) as pool,
        distributed.Client(address.replace("dask://", "tcp://")) as client,
    ):
        gc.disable()  # as in a run of the command
        try:
            for future in [pool.submit(square, number) for number in range(20)]:
                future.result()
            while any(client.has_what().values()):
                time.sleep(0.01)
        finally:
            gc.enable()


def test_exceptions(address: str) -> None:
    with executor(address) as pool:
        assert pool.submit(square, 3).result() == 9
        with pytest.raises(KeyError, match="9"):
            list(ordered(raises, [0, 9], pool, lost=lost))


def test_what_is_no_scheduler(address: str) -> None:
    with pytest.raises(JobsError, match="cannot connect"), executor("dask://127.0.0.1:1"):
        pass
