"""Runs waves: which threads go on, who waits for whom, and where nobody can go on."""
