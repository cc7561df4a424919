"""What the panels of an editor draw: occupancy curves and control flow graphs."""
