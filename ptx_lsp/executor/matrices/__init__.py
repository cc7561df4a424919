"""Matrix instructions: fragments, products, scales and sparsity."""
