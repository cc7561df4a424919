"""What every modifier means."""
