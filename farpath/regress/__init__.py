"""Regress: whether and how a change altered the behaviour of stacks."""
