"""The commands for terminals and pipelines."""
