"""Jitter: a mechanism."""
