"""Runs work on the processes of this machine, on a Dask cluster, or on any other executor."""
