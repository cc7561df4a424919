"""Launches: sizes, arguments, launch comments and previews."""
