"""One module for each way to embed PTX."""
