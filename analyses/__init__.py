"""Facts about a PTX program, computed on the model: one analysis a file."""
