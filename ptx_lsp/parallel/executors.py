"""The executors that `--jobs` names."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Executor
from contextlib import contextmanager

from ptx_lsp.parallel.jobs import Jobs, cores, parse_jobs, scheduler_address


@contextmanager
def executor(jobs: Jobs = None) -> Generator[Executor]:
    """The executor that `--jobs` names. After a worker has died, it takes further work.

    At the end, work that has not begun is cancelled; after an exception, processes of this machine are
    terminated. Raises JobsError if there is no such executor.
    """
    if isinstance(jobs, str):
        jobs = parse_jobs(jobs)
    if isinstance(jobs, str):
        from ptx_lsp.parallel.dask_cluster import dask_executor

        with dask_executor(jobs, scheduler_address(jobs)) as cluster:
            yield cluster
        return
    from ptx_lsp.parallel.process_pool import ProcessPool

    pool = ProcessPool(jobs if jobs is not None else cores())
    try:
        yield pool
    except BaseException:  # Ctrl-C: unfinished work is of no use
        pool.terminate()
        raise
    pool.shutdown(cancel_futures=True)
