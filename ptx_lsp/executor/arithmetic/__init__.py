"""Numbers of lanes: exact integers, floats and their rounding, programs of NumPy operations."""
