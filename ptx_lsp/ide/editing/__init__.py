"""Changes to the text: rename, formatting, code actions."""
