"""Droppers: a mechanism."""
