"""MPTCP: a mechanism."""
