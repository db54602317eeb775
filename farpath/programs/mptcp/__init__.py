"""MPTCP: a program."""
