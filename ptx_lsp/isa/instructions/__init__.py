"""The instruction table: a file for each section of the manual."""
