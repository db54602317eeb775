"""Draws: repeats of a run whose flows start, and whose hosts send, when a seed says."""
