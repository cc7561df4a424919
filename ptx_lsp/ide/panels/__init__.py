"""The contents of editor panels: occupancy curves and control flow graphs."""
