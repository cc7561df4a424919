"""Directives and declarations, and the version and target that they need."""
