"""Corruption: a mechanism."""
