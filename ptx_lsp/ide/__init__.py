"""The features of an editor, one a file: byte offsets in, frozen values out."""
