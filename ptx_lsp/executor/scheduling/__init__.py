"""Schedules waves: selects the next threads, tracks waiting ones, and detects deadlock."""
