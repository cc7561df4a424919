"""What is told of a file: findings, figures of kernels, baselines and comparisons."""
