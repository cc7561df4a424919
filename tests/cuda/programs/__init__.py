"""Programs that the tests run with `ptx-run --python`."""
