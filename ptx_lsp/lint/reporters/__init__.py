"""How findings are written down."""
