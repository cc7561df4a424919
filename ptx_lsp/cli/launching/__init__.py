"""The options, the request and the report of `ptx-run`."""
