"""Checks files: in processes, with a cache, with ptxas beside."""
