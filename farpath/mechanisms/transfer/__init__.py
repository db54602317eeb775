"""Transfers: a mechanism."""
