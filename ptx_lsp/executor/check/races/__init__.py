"""Races: memory orders, the happens-before relation, and conflicting accesses."""
