"""Image: a program of flows."""
