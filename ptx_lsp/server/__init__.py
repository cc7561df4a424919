"""The language server: the only place that knows the Language Server Protocol."""
