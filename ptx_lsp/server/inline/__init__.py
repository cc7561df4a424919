"""Files in other languages, with PTX in blocks of inline assembly."""
