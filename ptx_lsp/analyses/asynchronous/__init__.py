"""Asynchronous operations: copies that nothing waits for, registers of `wgmma` in flight."""
