"""Asynchronous operations: mbarriers, bulk copies, tensors, clusters and multimem addresses."""
