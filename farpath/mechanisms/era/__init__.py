"""Eras: a mechanism."""
