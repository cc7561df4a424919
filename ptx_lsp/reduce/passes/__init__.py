"""The passes of a reduction, one subject per file. They are found by walking this package."""
