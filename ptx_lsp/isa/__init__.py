"""The table of PTX: instructions, types, targets. Importing the package loads nothing."""
