"""Runs: sets of runs, their status, and the making of runs without records."""
