"""Registers: pressure, and how many ptxas will use."""
