"""Disks: a mechanism."""
