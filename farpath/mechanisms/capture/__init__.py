"""Captures: a mechanism."""
