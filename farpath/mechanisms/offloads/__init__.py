"""Offloads: a mechanism."""
