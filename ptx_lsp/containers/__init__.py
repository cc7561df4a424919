"""PTX inside fat binaries, and the object files, libraries and archives that have them."""
