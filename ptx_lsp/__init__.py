"""Language server, linter and reference executor for NVIDIA PTX."""

__version__ = "0.2.0"
