"""Observers that record what is executed: traces, profiles and last values."""
