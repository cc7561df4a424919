"""Facts about a PTX program, computed on the model: one analysis per file."""
