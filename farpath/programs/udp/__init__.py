"""UDP: a program of flows."""
