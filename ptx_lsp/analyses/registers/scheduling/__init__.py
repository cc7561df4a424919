"""The schedules of ptxas in straight-line regions, and the registers that they need."""
