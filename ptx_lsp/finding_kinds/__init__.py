"""The kinds of findings and errors of launches: their names, meanings and examples."""
