"""Captures: files of packets as tables, and what they say of TCP. Nothing here needs a lab."""
