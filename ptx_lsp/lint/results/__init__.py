"""The results for a file: findings, kernel metrics, baselines and comparisons."""
