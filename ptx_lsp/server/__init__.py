"""The language server. Only this package uses the Language Server Protocol."""
