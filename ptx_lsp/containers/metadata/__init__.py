"""Formats of what compilers write about kernels beside PTX, one per file: `METADATA` is a `MetadataFormat`.
They are discovered, not listed.
"""
