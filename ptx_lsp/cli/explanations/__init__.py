"""`--explain` and `--rules`."""
