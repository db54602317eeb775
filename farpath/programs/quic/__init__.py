"""QUIC: a program of flows."""
