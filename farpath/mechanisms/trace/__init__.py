"""Trace: a mechanism."""
