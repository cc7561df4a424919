"""The words themselves: a subject per file. Each `Command` in a file here is found."""
