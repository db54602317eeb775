"""udtperf: a program of flows."""
