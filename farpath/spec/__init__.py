"""Specification of a run: plain data that host and guest share, on the standard library alone."""
